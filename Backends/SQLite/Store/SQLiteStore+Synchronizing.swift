#if SQLite
internal import Foundation
public import PolystoreStorage

extension SQLiteStore: SynchronizingStorage {
    /// Waits until the log is on the disk. Without `durability=full`, the engine writes commits to the log and does not wait.
    public func synchronize() throws(StorageError) {
        // A log that no longer exists was copied to the database file, which the engine has synchronized.
        if place.durability == .full || !FileManager.default.fileExists(atPath: path + "-wal") { return }
        // There are no locks on the log, so closing it here drops none (sqlite.org/howtocorrupt, 2.2).
        let log = FileHandle(forReadingAtPath: path + "-wal")
        defer { try? log?.close() }
        guard let log, Self.synchronize(log.fileDescriptor) else {
            throw StorageError(
                .inputOutput, "the committed changes could not be flushed to the disk; check the disk",
                cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
        }
    }

    private static func synchronize(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
        return fcntl(descriptor, F_FULLFSYNC) == 0
        #else
        return fsync(descriptor) == 0
        #endif
    }
}
#endif
