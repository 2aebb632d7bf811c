internal import Dispatch
public import Polystore

extension CoreStore {
    #if SQLite
    /// Adds a SQLite store at the program's default location.
    @discardableResult
    public static func addStorageAndWait() throws(StorageError) -> some StorageInterface { try defaultStack.addStorageAndWait() }
    #endif

    /// Opens a store and adds it.
    @discardableResult
    public static func addStorageAndWait<Storage: StorageInterface>(_ storage: Storage) throws(StorageError) -> Storage {
        try defaultStack.addStorageAndWait(storage)
    }

    /// Opens the store of a kind at its default location and adds it.
    @discardableResult
    public static func addStorageAndWait<Storage: DefaultPlaceStorage>(_ type: Storage.Type) throws(StorageError) -> Storage {
        try defaultStack.addStorageAndWait(type)
    }

    /// Opens a store in the background and adds it. The completion is called on the main queue.
    ///
    /// - Returns: The progress of a migration, or nil if no migration is necessary.
    @discardableResult
    public static func addStorage<Storage: StorageInterface>(
        _ storage: Storage, completion: @escaping @Sendable (SetupResult<Storage>) -> Void
    ) -> MigrationProgress? {
        defaultStack.addStorage(storage, on: .main, completion: completion)
    }

    /// Opens the store of a kind at its default location in the background and adds it. The completion is called on the main queue.
    ///
    /// - Returns: The progress of a migration, or nil if no migration is necessary.
    @discardableResult
    public static func addStorage<Storage: DefaultPlaceStorage>(
        _ type: Storage.Type, completion: @escaping @Sendable (SetupResult<Storage>) -> Void
    ) -> MigrationProgress? {
        do throws(StorageError) {
            return addStorage(try type.init(), completion: completion)
        } catch {
            DispatchQueue.main.async { completion(.failure(error)) }
            return nil
        }
    }

    /// Opens a store on a thread of the default stack and adds it. Migrates it if it has another version of the model.
    @discardableResult
    public static func addStorage<Storage: StorageInterface>(
        _ storage: Storage, progress: MigrationProgress = MigrationProgress()
    ) async throws -> Storage {
        try await defaultStack.addStorage(storage, progress: progress)
    }

    /// Removes a store from the default stack and closes it.
    public static func removeStorage(_ storage: any StorageInterface) throws(StorageError) { try defaultStack.removeStorage(storage) }

    /// Removes all stores from the default stack and closes them.
    public static func unsafeRemoveAllPersistentStoresAndWait() throws(StorageError) {
        try defaultStack.unsafeRemoveAllPersistentStoresAndWait()
    }
}
