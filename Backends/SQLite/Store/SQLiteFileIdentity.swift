#if SQLite
internal import Foundation
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
}
#endif
