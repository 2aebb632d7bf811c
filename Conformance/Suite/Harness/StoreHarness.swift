internal import Foundation
public import PolystoreStorage

/// Gives each case a fresh, empty place of the store under test.
public final class StoreHarness: Sendable {
    /// What the store can do.
    public let capabilities: Set<StorageCapabilities.Capability>
    private let make: @Sendable () throws -> StorePlace

    /// A harness over places; one is opened at once to learn what the store can do.
    public init(_ make: @escaping @Sendable () throws -> StorePlace) throws {
        self.make = make
        let place = try make()
        defer { place.remove() }
        let store = try place.store()
        _ = try store.open(OpenRequest(schema: Fixture.schema))
        capabilities = store.capabilities.supported
        try store.close()
    }

    /// Runs a case's work over a fresh store that is open with the suite's schema.
    func withStore(_ body: (Scratch) throws -> Void) throws { try withStore(Fixture.schema, body) }

    /// Runs a case's work over a fresh store that is open with a schema.
    func withStore(_ schema: Schema, _ body: (Scratch) throws -> Void) throws {
        let place = try make()
        defer { place.remove() }
        let scratch = try Scratch(place, schema)
        defer { try? scratch.store.close() }
        try body(scratch)
    }
}

/// A place where a store can keep data: what is closed there is there when it is opened again.
public struct StorePlace: Sendable {
    /// Makes a store of the place, not yet open.
    public let store: @Sendable () throws -> any StorageInterface
    /// Removes the place.
    public let remove: @Sendable () -> Void

    /// A place.
    public init(store: @escaping @Sendable () throws -> any StorageInterface, remove: @escaping @Sendable () -> Void) {
        self.store = store
        self.remove = remove
    }

    /// A fresh place for a store URL: a file in a temporary folder where the URL names no path, a schema of its own on a server.
    public static func scratch(_ text: String, opener: some StoreOpener) throws -> StorePlace {
        let name = "polystore_conformance_" + UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: "")
        if text == "sqlite:" || text == "lmdb:" {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let url = try StoreURL("\(text)\(folder.path)/scratch")
            return StorePlace(
                store: { try opener.store(at: url, configuration: nil) }, remove: { try? FileManager.default.removeItem(at: folder) })
        }
        let isServer = text.hasPrefix("postgres")
        let url = try StoreURL(isServer ? text + (text.contains("?") ? "&" : "?") + "x-schema=\(name)" : text)
        return StorePlace(
            store: { try opener.store(at: url, configuration: nil) },
            remove: { try? opener.store(at: url, configuration: nil).erase() })
    }
}
