/// A write transaction that mends damage that no change of an object mends.
package protocol RepairingWriter: StoredFormReader, StorageWriter {
    /// Makes all indexes of a table again from its rows, and what the engine keeps beside them. The history does not record it.
    ///
    /// *Behavior*: an index that the engine cannot make, because rows have the same values under its constraint, is left as it is. So is
    /// every index that does not belong to the model.
    /// - Parameters:
    ///   - table: The name of a root entity or a link table, or the name that `damages` gave to another table of the store.
    ///   - onlyBlocked: Whether only what rows can prevent is made: unique indexes, primary keys, and columns that accept no NULL.
    func rebuildIndexes(of table: String, onlyBlocked: Bool) throws(StorageError)

    /// Removes a row without decoding it, and records its deletion. Its entries in indexes may remain until the indexes are rebuilt.
    ///
    /// *Behavior*: `notFound` if there is no row with the key.
    func removeUnreadableRow(_ root: EntityIndex, key: Int64) throws(StorageError)

    /// Sets the version of a row, whatever it is, and records an update of the object.
    ///
    /// *Behavior*: `notFound` if there is no row with the key.
    func setVersion(_ entity: EntityIndex, key: Int64, to version: Int64) throws(StorageError)
}
