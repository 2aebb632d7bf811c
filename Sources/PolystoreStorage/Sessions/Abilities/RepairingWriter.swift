/// A write transaction that mends damage that no change of an object mends.
package protocol RepairingWriter: StoredFormReader, StorageWriter {
    /// Rebuilds all indexes of a table from its rows. The history does not record it.
    ///
    /// *Behavior*: `uniqueConstraintViolated` if two rows have the same values under a constraint.
    /// - Parameter table: The name of a root entity or a link table, or the name that `damages` gave to another table of the store.
    func rebuildIndexes(of table: String) throws(StorageError)

    /// Removes a row without decoding it, and records its deletion. Its entries in indexes may remain until the indexes are rebuilt.
    ///
    /// *Behavior*: `notFound` if there is no row with the key.
    func removeUnreadableRow(_ root: EntityIndex, key: Int64) throws(StorageError)
}
