#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage

/// The write-ahead log of a database file, open for flushing it to the disk. A log exists as long as any connection is open.
///
/// There are no locks on the log, so closing it here drops none (https://sqlite.org/howtocorrupt.html, 2.2).
final class SQLiteLogFile: Sendable {
    private let descriptor: Int32

    /// Opens the log of the file at a path; nil if there is none.
    init?(ofFileAt path: String) throws(StorageError) {
        descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { return }
        if errno == ENOENT { return nil }
        throw Self.error("the write-ahead log of the database could not be opened; try again")
    }

    deinit { close(descriptor) }

    /// Waits until what was written to the log is on the disk.
    ///
    /// - Throws: `inputOutput`.
    func flush() throws(StorageError) {
        #if canImport(Darwin)
        // fsync leaves the data in the cache of the disk.
        let code = fcntl(descriptor, F_FULLFSYNC)
        #else
        let code = fdatasync(descriptor)
        #endif
        if code != 0 { throw Self.error("the committed changes could not be flushed to the disk; check the disk") }
    }

    private static func error(_ message: String) -> StorageError {
        StorageError(.inputOutput, message, cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
    }
}
#endif
