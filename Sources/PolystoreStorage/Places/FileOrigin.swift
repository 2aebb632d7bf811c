internal import PolystoreFoundation

#if canImport(CDispatch)
// On Linux this module declares the members of `stat`.
internal import CDispatch
#endif

/// The state of a path before a store was created there, which withdrawing the store restores.
package enum FileOrigin: Sendable, Equatable {
    case nothing
    case emptyFile(permissions: UInt32)
    case contents

    /// Creates the value for the present state of a path. Symbolic links are followed.
    package init(path: String) {
        var status = stat()
        if stat(path, &status) != 0 {
            self = .nothing
        } else if status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 {
            self = .emptyFile(permissions: UInt32(status.st_mode & 0o777))
        } else {
            self = .contents
        }
    }

    /// Removes the file that was created at a path without symbolic links, or replaces it by an empty file where there was one. Programs
    /// that have the file open keep the file that was removed.
    package func restore(_ path: String) throws(StorageError) {
        switch self {
        case .nothing: if unlink(path) != 0, errno != ENOENT { throw Self.refusal }
        case .emptyFile(let permissions): try Self.replace(path, permissions)
        case .contents: break
        }
    }

    private static func replace(_ path: String, _ permissions: UInt32) throws(StorageError) {
        let new = "\(path).\(UUID().uuidString).partial", file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw refusal }
        let isMade = fchmod(file, mode_t(permissions)) == 0
        close(file)
        if isMade, rename(new, path) == 0 { return }
        let failure = refusal
        unlink(new)
        throw failure
    }

    /// The error for a failed call of the system.
    private static var refusal: StorageError {
        StorageError(
            .permissionDenied, "a file of the store could not be removed; check the permissions of its folder",
            cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
    }
}
