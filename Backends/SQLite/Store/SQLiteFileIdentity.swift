#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage

#if canImport(CDispatch)
// On Linux this module declares the members of `stat`.
internal import CDispatch
#endif

/// The identity of a file, independent of its names.
struct SQLiteFileIdentity: Equatable, Sendable {
    static let moved = StorageError(
        .notFound, "the database file was deleted or replaced while the store was open; close the store and open it again")

    private let device: UInt64
    private let number: UInt64

    /// Creates the identity of the file at a path, or nil when there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// Returns whether there is a regular file at a path.
    ///
    /// - Throws: `notADatabase` for a folder, a pipe and a device, because the system can open a folder for reading and the engine would fail
    ///   later, and opening a pipe would wait for its other end; `invalidConfiguration` for a path that the system cannot resolve.
    static func isDatabaseFile(at path: String) throws(StorageError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else {
            if errno != ELOOP, errno != ENAMETOOLONG { return false }
            throw StorageError(.invalidConfiguration, "the path of the SQLite file is too long, or its symbolic links form a loop")
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return true
        case S_IFDIR: throw StorageError(.notADatabase, "the path is a folder, not a SQLite database")
        default: throw StorageError(.notADatabase, "the path is a device or a pipe, not a SQLite database")
        }
    }
}
#endif
