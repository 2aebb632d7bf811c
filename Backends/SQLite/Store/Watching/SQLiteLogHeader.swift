#if SQLite
internal import CSQLite
internal import PolystoreStorage
internal import Synchronization

/// The header of the index of a write-ahead log, in the memory that all connections share. It counts the transactions.
///
/// https://sqlite.org/walformat.html#the_wal_index_header: two copies of 48 bytes, of which the second is written first. Bytes 0 to 3 are
/// the version of the format; each transaction increments bytes 8 to 11. It is read from the engine's own mapping, because opening and
/// closing the file again would drop the engine's locks on it.
struct SQLiteLogHeader {
    private static let format: UInt32 = 3_007_000
    private static let size = 48

    private let memory: UnsafeRawPointer

    /// Creates the header from the mapping of a connection; nil where there is none, or one of another format.
    ///
    /// It stays mapped as long as the connection is open.
    init?(_ connection: SQLiteConnection) throws(StorageError) {
        // A read makes the engine map the header.
        _ = try connection.integer("SELECT count(*) FROM sqlite_master")
        guard try connection.isLogging() else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap
        else { return nil }
        var start: UnsafeMutableRawPointer?
        guard map(file, 0, 32_768, 0, &start) == SQLITE_OK, let start else { return nil }
        memory = UnsafeRawPointer(start)
        if memory.load(as: UInt32.self) != Self.format { return nil }
    }

    /// The counter of the newest complete commit.
    var newest: UInt32? { number(at: 8) }
    /// The counter of the newest commit, which may be about to become complete.
    var begun: UInt32? { number(at: Self.size + 8) }

    private func number(at offset: Int) -> UInt32? {
        // Other processes write the header, each number atomically.
        atomicMemoryFence()
        defer { atomicMemoryFence() }
        return memory.load(as: UInt32.self) == Self.format ? memory.load(fromByteOffset: offset, as: UInt32.self) : nil
    }

    private func atomicMemoryFence() { Synchronization.atomicMemoryFence(ordering: .sequentiallyConsistent) }
}
#endif
