internal import PolystoreStorage

extension StorageError {
    /// Returns the error with the name of the store before its message, unless the message contains it.
    func naming(_ store: StoreURL) -> StorageError {
        let name = store.redacted.excerpt(200)
        return message.contains(name) ? self : StorageError(code, "\(name): \(message)", details: details, cause: self)
    }
}
