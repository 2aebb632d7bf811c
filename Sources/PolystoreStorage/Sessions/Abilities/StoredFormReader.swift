/// A session that reads rows and history entries in the form in which the store keeps them, even if they cannot be decoded, and that
/// compares the indexes of the store with its rows.
package protocol StoredFormReader: StorageReader {
    /// Passes the damage of the store's files and indexes to `body`.
    ///
    /// *Behavior*: rows that cannot be decoded are not damage in this sense. Readers of rows find them.
    func damages(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError)

    /// Returns the keys of the rows of a hierarchy that follow a key, in ascending order, at most `limit`. Nil begins with the first key.
    func storedKeys(_ root: EntityIndex, after key: Int64?, limit: Int) throws(StorageError) -> [Int64]

    /// Returns the stored form of a row of a hierarchy; empty if there is no row with the key.
    func storedRow(_ root: EntityIndex, key: Int64) throws(StorageError) -> [StoredColumn]

    /// Returns the stored forms of the history entries that follow a position, in ascending order, at most `limit`.
    func storedEntries(after position: Int64, limit: Int) throws(StorageError) -> [StoredEntry]
}
