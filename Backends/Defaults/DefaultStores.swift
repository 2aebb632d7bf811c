internal import PolystoreFoundation
public import Polystore
internal import PolystoreInMemory

#if SQLite
public import PolystoreSQLite

extension SQLiteStore: DefaultPlaceStorage {
    /// Creates a store at the default location: `$XDG_DATA_HOME` (`~/.local/share`), or Application Support on macOS, followed by the name
    /// of the program and `.sqlite`.
    public convenience init() throws(StorageError) { self.init(path: try DefaultPlace.path(), configuration: nil) }

    /// Creates a store in a file of the given name, in the folder of the default location.
    public convenience init(
        fileName: String, configuration: String? = nil, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = []
    ) throws(StorageError) {
        let folder = URL(fileURLWithPath: try DefaultPlace.path()).deletingLastPathComponent()
        self.init(
            fileURL: folder.appendingPathComponent(fileName), configuration: configuration, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
    }
}

extension DataStack {
    /// Adds a SQLite store at the default location of the program.
    @discardableResult
    public func addStorageAndWait() throws(StorageError) -> SQLiteStore { try addStorageAndWait(SQLiteStore()) }

    /// Creates a stack over one SQLite file.
    public static func basic(_ models: ManagedObject.Type..., path: String) throws(StorageError) -> DataStack {
        let stack = try DataStack(models: models)
        try stack.addStorageAndWait(SQLiteStore(path: path))
        return stack
    }

    /// Creates a stack over a SQLite file in its own temporary folder, for tests. The folder is removed when the program exits.
    public static func testing(_ models: ManagedObject.Type...) throws(StorageError) -> DataStack {
        let stack = try DataStack(models: models)
        try stack.addStorageAndWait(SQLiteStore(path: TemporaryFolders.make().appendingPathComponent("test.db").path))
        return stack
    }
}
#endif

extension DataStack {
    /// Creates a stack over a store in memory, for previews and experiments.
    public static func preview(_ models: ManagedObject.Type...) throws(StorageError) -> DataStack {
        let stack = try DataStack(models: models)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }
}
