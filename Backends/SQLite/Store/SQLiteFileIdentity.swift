#if SQLite
internal import Foundation
internal import PolystoreStorage

#if canImport(CDispatch)
// On Linux the members of `stat` are this module's.
internal import CDispatch
#endif

/// What a file is, whatever its names are.
struct SQLiteFileIdentity: Equatable, Sendable {
    static let moved = StorageError(
        .notFound, "the database file was deleted or replaced while it was open; close the store and open it again")

    private let device: UInt64
    private let number: UInt64

    /// What a path leads to; nil for nothing.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }
}
#endif
