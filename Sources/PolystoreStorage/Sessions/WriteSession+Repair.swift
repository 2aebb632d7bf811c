extension WriteSession {
    /// Makes all indexes of a table again from its rows, except those that rows with the same values under a constraint prevent.
    ///
    /// - Parameter onlyBlocked: Whether only what rows can prevent is made.
    /// - Throws: `unsupported` for a store whose indexes cannot be rebuilt.
    package func rebuildIndexes(of table: String, onlyBlocked: Bool = false) throws(StorageError) {
        try repairing { writer throws(StorageError) in try writer.rebuildIndexes(of: table, onlyBlocked: onlyBlocked) }
    }

    /// Removes a row of a hierarchy without decoding it, and records its deletion.
    ///
    /// - Throws: `notFound` if there is no row with the key; `unsupported` for a store that cannot do it.
    package func removeUnreadableRow(_ root: EntityIndex, key: Int64) throws(StorageError) {
        try repairing { writer throws(StorageError) in try writer.removeUnreadableRow(root, key: key) }
    }

    /// Sets the version of a row, whatever it is, and records an update of the object.
    ///
    /// - Throws: `notFound` if there is no row with the key; `unsupported` for a store that cannot do it.
    package func setVersion(_ entity: EntityIndex, key: Int64, to version: Int64) throws(StorageError) {
        try repairing { writer throws(StorageError) in try writer.setVersion(entity, key: key, to: version) }
    }

    private func repairing(_ body: (any RepairingWriter) throws(StorageError) -> Void) throws(StorageError) {
        guard let writer: any RepairingWriter = writer.ability((any RepairingWriter).self) else {
            throw StorageError(.unsupported, "the store cannot be repaired; transfer its data to a new store")
        }
        try change { () throws(StorageError) in try body(writer) }
    }
}
