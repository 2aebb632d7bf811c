#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// Removal of a Polystore store from a file, without any objects of other programs.
struct SQLiteErasure {
    private let place: SQLitePlace

    init(_ place: SQLitePlace) { self.place = place }

    /// Removes the store in the file, and the file with the files beside it if nothing else is in it.
    ///
    /// - Parameters:
    ///   - origin: What was at the path before the store was created. A file with other contents stays.
    ///   - ifUnused: Whether nothing is removed if a table has a row.
    /// - Throws: `notADatabase` for anything but a store; `unsupported` if a view or a foreign key of another program depends on a table.
    ///   Nothing is removed then.
    func run(returningTo origin: FileOrigin = .nothing, ifUnused: Bool = false) throws(StorageError) {
        guard try SQLiteFileIdentity.isDatabaseFile(at: place.path), let real = realpath(place.path, nil) else { return }
        defer { free(real) }
        let path = String(cString: real)
        if access(path, W_OK) != 0 {
            throw StorageError(.permissionDenied, "permission to change the database file was denied; check its permissions")
        }
        guard try isAlone(origin, ifUnused: ifUnused) else { return }
        // The logs are removed first: one that remained would be applied to the next database of this name.
        for suffix in ["-wal", "-journal"] { try FileOrigin.nothing.restore(path + suffix) }
        try origin.restore(path)
        try FileOrigin.nothing.restore(path + "-shm")
    }

    /// Returns whether the store may be removed together with its file. Otherwise drops its tables, unless there are none or they are used.
    private func isAlone(_ origin: FileOrigin, ifUnused: Bool) throws(StorageError) -> Bool {
        let connection = try place.visitor(), setup = SQLiteSetup(connection)
        if try setup.readEntries().isEmpty { return false }
        return try connection.inTransaction(ifUnused ? SQLiteSetup.beginning : "BEGIN") { () throws(StorageError) in
            let tables = try SQLiteErasedTables(setup)
            if ifUnused, try tables.areUsed() { return false }
            if origin != .contents, try tables.others().isEmpty { return true }
            try tables.drop()
            return false
        }
    }
}
#endif
