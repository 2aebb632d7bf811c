public import Polystore

extension LocalStorageOptions: ExpressibleByNilLiteral {
    /// No options.
    public static var none: LocalStorageOptions { [] }

    /// Creates no options.
    public init(nilLiteral: ()) { self = [] }
}

extension DataStack {
    /// Removes all stores and closes them. Their objects can no longer be loaded.
    public func unsafeRemoveAllPersistentStoresAndWait() throws(StorageError) {
        for storage in storages { try removeStorage(storage) }
    }
}
