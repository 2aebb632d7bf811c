#if SQLite
internal import CSQLite
internal import PolystoreStorage

extension SQLiteConnection {
    /// Returns whether the pages of the file have checksums. The VFS sees the header as well.
    func hasChecksums() throws(StorageError) -> Bool { try header()?.hasChecksums ?? false }

    /// Returns the header of the file, or nil while it is empty.
    private func header() throws(StorageError) -> SQLiteFileHeader? {
        try head(SQLiteFileHeader.size).withUnsafeBytes { SQLiteFileHeader($0) }
    }

    /// Adds checksums to a new file if they are required.
    ///
    /// - Throws: `invalidConfiguration` for a file without them.
    func apply(_ checksums: SQLiteChecksums) throws(StorageError) {
        if checksums == .ignored { return }
        // Another connection may have written the header since this one was opened. Reading it again passes it to the VFS.
        let header = try header()
        guard checksums == .required, header?.hasChecksums != true else { return }
        if header == nil { return try startChecksums() }
        throw StorageError(
            .invalidConfiguration,
            "the file was created without checksums; transfer its data to a new file that is created with checksums, or remove the option")
    }

    /// Reserves bytes for the checksums of an empty file.
    private func startChecksums() throws(StorageError) {
        var reserved = Int32(SQLiteChecksums.size)
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        // A negative number queries the value: builds of the engine may reserve more bytes by themselves, but never fewer.
        reserved = -1
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
        if reserved == SQLiteChecksums.size { return try announceChecksums(pageSize: Self.pageSize) }
        throw StorageError(.unsupported, "the SQLite library reserves other bytes of each page; remove the option checksums")
    }

    /// Makes the VFS write a checksum to each page of an empty file, because pages may be written before the header.
    func announceChecksums(pageSize: Int32) throws(StorageError) {
        var size = pageSize
        if sqlite3_file_control(handle, "main", SQLiteChecksumFile.announcement, &size) == SQLITE_OK { return }
        throw StorageError(.unsupported, "only a database in a file can have checksums")
    }
}
#endif
