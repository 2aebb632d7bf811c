internal import Foundation
public import PolystoreStorage

/// Gives each case a fresh, empty place of the store under test.
public final class StoreHarness: Sendable {
    /// What the store can do.
    public let capabilities: Set<StorageCapabilities.Capability>
    /// What the store is called in failures.
    let name: String
    /// The stores that stand beside the one under test where a case needs two.
    let companions: [StoreHarness]
    private let make: @Sendable () throws -> StorePlace

    /// A harness over places; one is opened at once to learn what the store can do.
    ///
    /// - Parameters:
    ///   - companions: The stores of other kinds that stand beside this one where a case needs two; a second place of the same kind
    ///     always does.
    ///   - make: Makes a fresh, empty place.
    public init(companions: [StoreHarness] = [], _ make: @escaping @Sendable () throws -> StorePlace) throws {
        self.make = make
        self.companions = companions
        let place = try make()
        defer { place.remove() }
        let store = try place.store(nil)
        name = type(of: store).storeType
        _ = try store.open(OpenRequest(schema: Fixture.schema))
        capabilities = store.capabilities.supported
        try store.close()
    }

    /// A harness over scratch places of a store URL.
    ///
    /// - Parameters:
    ///   - url: The URL of the store under test.
    ///   - others: The URLs of stores that stand beside it where a case needs two.
    ///   - opener: Knows the kinds of store.
    public static func scratch(_ url: String, beside others: [String] = [], opener: some StoreOpener) throws -> StoreHarness {
        let companions = try others.map { other in try StoreHarness { try StorePlace.scratch(other, opener: opener) } }
        return try StoreHarness(companions: companions) { try StorePlace.scratch(url, opener: opener) }
    }

    func place() throws -> StorePlace { try make() }

    /// Runs a case's work over a fresh store that is open with the suite's schema.
    func withStore(_ body: (Scratch) throws -> Void) throws { try withStore(Fixture.schema, body) }

    /// Runs a case's work over a fresh store that is open with a schema.
    func withStore<Answer>(_ schema: Schema, _ body: (Scratch) throws -> Answer) throws -> Answer {
        let place = try make()
        defer { place.remove() }
        let scratch = try Scratch(place, schema)
        defer { try? scratch.store.close() }
        return try body(scratch)
    }
}

/// A place where a store can keep data: what is closed there is there when it is opened again.
public struct StorePlace: Sendable {
    /// Makes a store of the place for the entities of a configuration, not yet open.
    public let store: @Sendable (_ configuration: String?) throws -> any StorageInterface
    /// Removes the place.
    public let remove: @Sendable () -> Void

    /// A place.
    public init(
        store: @escaping @Sendable (_ configuration: String?) throws -> any StorageInterface, remove: @escaping @Sendable () -> Void
    ) {
        self.store = store
        self.remove = remove
    }

    /// A fresh place for a store URL: for `sqlite:` and `lmdb:` in a temporary folder, or in the folder that the URL names; for a server a
    /// schema of its own. Any other URL is used as it is, and what is there is erased.
    ///
    /// - Throws: `notFound` where the URL names no folder: what lies at a path may be somebody's store.
    public static func scratch(_ text: String, opener: some StoreOpener) throws -> StorePlace {
        let name = "polystore_conformance_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        // The text of what an environment variable stands for.
        let named = try StoreURL(text), parts = named.text.split(separator: "?", maxSplits: 1)
        if ["sqlite", "lmdb"].contains(named.scheme) {
            let folder = try base(named).appendingPathComponent(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let path = folder.path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? folder.path
            // Options stay behind the path.
            let url = try StoreURL("\(named.scheme):\(path)/scratch\(parts.count == 2 ? "?\(parts[1])" : "")")
            return StorePlace(
                store: { try opener.store(at: url, configuration: $0) }, remove: { try? FileManager.default.removeItem(at: folder) })
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
                "\"\(url.text)\" names no folder; the suite makes scratch stores in a folder, and never uses a store that is there")
        }
        return URL(fileURLWithPath: url.place)
    }
}
