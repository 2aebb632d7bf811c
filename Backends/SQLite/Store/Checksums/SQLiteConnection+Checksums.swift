#if SQLite
internal import CSQLite
internal import PolystoreStorage

extension SQLiteConnection {
    /// Whether the pages of the file have checksums. The VFS looks at the header, too.
    func hasChecksums() throws(StorageError) -> Bool { try header()?.hasChecksums ?? false }

    /// The header of the file; nil while it is empty.
    private func header() throws(StorageError) -> SQLiteFileHeader? {
        try head(SQLiteFileHeader.size).withUnsafeBytes { SQLiteFileHeader($0) }
    }

    /// Gives checksums to a new file, where they are required.
    ///
    /// - Throws: `invalidConfiguration` for a file without them.
    func apply(_ checksums: SQLiteChecksums) throws(StorageError) {
        if checksums == .ignored { return }
        // Another connection may have written the header since this one was opened: reading it again shows it to the VFS.
        let header = try header()
        guard checksums == .required, header?.hasChecksums != true else { return }
        if header == nil { return try startChecksums() }
        throw StorageError(
            .invalidConfiguration,
            "the file was made without checksums; transfer its contents to a new file that is made with them, or leave the option out")
    }

    /// Reserves bytes for the checksums of a file that is empty.
    private func startChecksums() throws(StorageError) {
        var reserved = Int32(SQLiteChecksums.size)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        // A negative number asks: builds of the engine may reserve more bytes by themselves, and never fewer.
        reserved = -1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        if reserved == SQLiteChecksums.size { return try announceChecksums(pageSize: Self.pageSize) }
        throw StorageError(.unsupported, "the SQLite library reserves other bytes of each page; leave the checksums out")
    }

    /// Has a checksum written to each page of a file that is empty: pages may reach it before its header.
    func announceChecksums(pageSize: Int32) throws(StorageError) {
        var size = pageSize
        if sqlite3_file_control(handle, "main", SQLiteChecksumFile.announcement, &size) == SQLITE_OK { return }
        throw StorageError(.unsupported, "only a database in a file can have checksums")
    }
}
#endif
