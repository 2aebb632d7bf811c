/// A session that knows which primary keys objects never had.
package protocol KeyCountingReader: StorageReader {
    /// Returns a key such that no object of a hierarchy ever had that key or a greater one. Nil if the store does not count keys.
    func nextKey(_ root: EntityIndex) throws(StorageError) -> Int64?
}

extension ReadSession {
    /// Returns a key such that no object of a hierarchy ever had that key or a greater one. Nil if the store does not know.
    package func nextKey(_ root: EntityIndex) throws(StorageError) -> Int64? {
        try checkActive()
        return try ability((any KeyCountingReader).self)?.nextKey(root)
    }
}
