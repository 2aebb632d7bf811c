internal import Foundation
public import PolystoreStorage

/// A source of new, empty locations of the store under test, one for each case.
public final class StoreHarness: Sendable {
    /// The capabilities of the store.
    public let capabilities: Set<StorageCapabilities.Capability>
    /// The name of the store in failures.
    let name: String
    /// The companion stores for cases that need two stores.
    let companions: [StoreHarness]
    /// The conformance program, if it runs: it can act as another process.
    let program: URL?
    private let make: @Sendable () throws -> StorePlace
    private let fixture = SharedValue(SharedFixture())

    /// Creates a harness over locations. It opens one immediately to determine the capabilities of the store.
    ///
    /// - Parameters:
    ///   - companions: The stores of other kinds for cases that need two stores; a second location of the same kind is always used.
    ///   - make: Creates a new, empty location.
    public convenience init(companions: [StoreHarness] = [], _ make: @escaping @Sendable () throws -> StorePlace) throws {
        try self.init(companions: companions, program: nil, make)
    }

    init(companions: [StoreHarness], program: URL?, _ make: @escaping @Sendable () throws -> StorePlace) throws {
        self.make = make
        self.program = program
        self.companions = companions
        let place = try make()
        defer { place.remove() }
        let store = try place.store(nil)
        name = type(of: store).storeType
        _ = try store.open(OpenRequest(schema: Fixture.schema))
        capabilities = store.capabilities.supported
        try store.close()
    }

    /// Creates a harness over scratch locations of a store URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the store under test.
    ///   - others: The URLs of the companion stores for cases that need two stores.
    ///   - opener: Opens stores by URL.
    public static func scratch(_ url: String, beside others: [String] = [], opener: some StoreOpener) throws -> StoreHarness {
        try scratch(url, beside: others, program: nil, opener: opener)
    }

    static func scratch(_ url: String, beside others: [String], program: URL?, opener: some StoreOpener) throws -> StoreHarness {
        let companions = try others.map { other in try StoreHarness { try StorePlace.scratch(other, opener: opener) } }
        return try StoreHarness(companions: companions, program: program) { try StorePlace.scratch(url, opener: opener) }
    }

    func place() throws -> StorePlace { try make() }

    /// Runs `body` over a store that contains the rows of the fixture. Cases that only read share it, because creating a store can take much
    /// longer than their queries. A write is refused.
    func withFixture(_ body: (Scratch) throws -> Void) throws {
        let filled = try fixture.withLock { try $0.filled(make) }
        try body(filled.scratch())
    }

    /// Runs `body`, meanwhile keeping the store that cases share also while none of them runs.
    func keepingFixture(_ body: () -> Void) {
        fixture.withLock { $0.isKept = true }
        body()
        _ = fixture.withLock { $0.release() }
    }

    /// Runs `body` over a new store that is open with the suite's schema.
    func withStore(_ body: (Scratch) throws -> Void) throws { try withStore(Fixture.schema, body) }

    /// Runs `body` over a new store that is open with a schema.
    func withStore<Answer>(_ schema: Schema, _ body: (Scratch) throws -> Answer) throws -> Answer {
        let place = try make()
        defer { place.remove() }
        let scratch = try Scratch(place, schema)
        defer { try? scratch.store.close() }
        return try body(scratch)
    }
}

/// The store that the cases which only read share. It is removed when none of them runs, unless it is kept.
private struct SharedFixture {
    private weak var filled: FilledStore?
    private var kept: FilledStore?
    var isKept = false

    mutating func filled(_ make: () throws -> StorePlace) throws -> FilledStore {
        if let filled { return filled }
        let new = try FilledStore(make())
        filled = new
        if isKept { kept = new }
        return new
    }

    mutating func release() -> FilledStore? {
        defer { (kept, isKept) = (nil, false) }
        return kept
    }
}

/// An open store that contains the rows of the fixture. Its location is removed together with it.
private final class FilledStore: Sendable {
    private let place: StorePlace
    private let store: OpenStore

    init(_ place: StorePlace) throws {
        self.place = place
        do {
            let scratch = try Scratch(place, Fixture.schema)
            store = scratch.store
            try Fixture.fill(scratch)
        } catch {
            place.remove()
            throw error
        }
    }

    deinit {
        try? store.close()
        place.remove()
    }

    func scratch() -> Scratch { Scratch(reading: store, Fixture.schema, place) }
}

/// A location where a store can keep data: data of a closed store exists when it is opened again.
public struct StorePlace: Sendable {
    /// Creates a store at the location for the entities of a configuration, without opening it.
    public let store: @Sendable (_ configuration: String?) throws -> any StorageInterface
    /// Removes the location.
    public let remove: @Sendable () -> Void
    /// The URL of the location, with which another process opens it; nil if there is none.
    private(set) var url: String?

    /// Creates a location.
    public init(
        store: @escaping @Sendable (_ configuration: String?) throws -> any StorageInterface, remove: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.remove = remove
    }

    /// Returns a new location for a store URL: for `sqlite:` and `lmdb:` in a temporary folder, or in the folder that the URL names; for a
    /// server a separate schema. Any other URL is used unchanged, and an existing store there is erased.
    ///
    /// - Throws: `notFound` if the URL does not name a folder: a file at the path may be a store in use.
    public static func scratch(_ text: String, opener: some StoreOpener) throws -> StorePlace {
        let name = "polystore_conformance_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        // The text after resolving environment variables.
        let named = try StoreURL(text), parts = named.text.split(separator: "?", maxSplits: 1)
        if StoreURL.fileSchemes.contains(named.scheme) {
            let folder = try base(named).appendingPathComponent(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? folder.path
            // Options stay after the path.
            let url = try StoreURL("\(named.scheme):\(path)/scratch\(parts.count == 2 ? "?\(parts[1])" : "")")
            var place = StorePlace(
                store: { try opener.store(at: url, configuration: $0) }, remove: { try? FileManager.default.removeItem(at: folder) })
            place.url = url.text
            return place
        }
        let isServer = named.scheme == "postgresql"
        let url = isServer ? try StoreURL("\(named.text)\(parts.count == 2 ? "&" : "?")x-schema=\(name)") : named
        return StorePlace(
            store: { try opener.store(at: url, configuration: $0) },
            remove: { try? opener.store(at: url, configuration: nil).erase() })
    }

    private static func base(_ url: StoreURL) throws(StorageError) -> URL {
        if url.place.isEmpty { return FileManager.default.temporaryDirectory }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.place, isDirectory: &isFolder), isFolder.boolValue else {
            throw StorageError(
                .notFound,
                "\"\(url.text)\" is not the URL of a folder; the suite creates scratch stores in a folder, and never uses an existing store"
            )
        }
        return URL(fileURLWithPath: url.place)
    }
}
