extension WriteSession {
    /// Rebuilds all indexes of a table from its rows.
    ///
    /// - Throws: `uniqueConstraintViolated` if two rows have the same values under a constraint; `unsupported` for a store whose indexes
    ///   cannot be rebuilt.
    package func rebuildIndexes(of table: String) throws(StorageError) {
        try repairing { writer throws(StorageError) in try writer.rebuildIndexes(of: table) }
    }

    /// Removes a row of a hierarchy without decoding it, and records its deletion.
    ///
    /// - Throws: `notFound` if there is no row with the key; `unsupported` for a store that cannot do it.
    package func removeUnreadableRow(_ root: EntityIndex, key: Int64) throws(StorageError) {
        try repairing { writer throws(StorageError) in try writer.removeUnreadableRow(root, key: key) }
    }

    private func repairing(_ body: (any RepairingWriter) throws(StorageError) -> Void) throws(StorageError) {
        guard let writer: any RepairingWriter = writer.ability((any RepairingWriter).self) else {
            throw StorageError(.unsupported, "the store cannot be repaired; transfer its data to a new store")
        }
        try change { () throws(StorageError) in try body(writer) }
    }
}
