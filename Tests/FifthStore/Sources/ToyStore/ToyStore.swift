import PolystoreCatalog
import PolystoreInMemory
import PolystoreStorage

/// A store of somebody else: it counts the sessions that it opened, and leaves the rest to the memory store.
public final class ToyStore: StorageInterface {
    /// `toy`.
    public static let storeType = "toy"
    private let inner: InMemoryStore

    /// The store of a URL.
    public init(url: StoreURL, configuration: String?) { inner = InMemoryStore(configuration: configuration) }

    /// That of the memory store.
    public var configuration: String? { inner.configuration }
    /// Those of the memory store.
    public var capabilities: StorageCapabilities { inner.capabilities }
    /// Opens the store.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try inner.open(request) }
    /// Starts to read.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try inner.beginRead(options) }
    /// Starts to write.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try inner.beginWrite(options) }
    /// Starts to lead the store to another version of its model.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try inner.beginMigration(step, options)
    }
    /// What the store would do in a step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try inner.explanation(of: step, after: earlier)
    }
    /// Closes the store.
    public func close() throws(StorageError) { try inner.close() }
    /// Erases the store.
    public func erase() throws(StorageError) { try inner.erase() }
}

extension StoreCatalog {
    /// The stores of Polystore and this one.
    public static var withToy: StoreCatalog {
        var catalog = StoreCatalog.standard
        catalog.register(scheme: "toy") { url, configuration in ToyStore(url: url, configuration: configuration) }
        return catalog
    }
}
