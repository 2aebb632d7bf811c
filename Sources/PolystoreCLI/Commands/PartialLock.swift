internal import Foundation
internal import PolystoreStorage

/// A lock file that lets only one process work on a temporary store. The lock ends with the process.
final class PartialLock: Sendable {
    private static let content = Array("polystore transfer\n".utf8)

    private let path: String
    private let descriptor: Int32
    /// Whether a process that has ended has left the lock file.
    let wasLeft: Bool

    /// - Throws: `busy` if another process holds the lock.
    init(_ path: String) throws(StorageError) {
        self.path = path
        descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor < 0 {
            let cause = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            throw StorageError(.inputOutput, "\(path) cannot be created: \(cause.localizedDescription)", cause: cause)
        }
        var file = stat(), named = stat()
        // A process that has ended meanwhile may have removed the file that was opened.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &file) == 0, stat(path, &named) == 0, file.st_ino == named.st_ino
        else {
            Foundation.close(descriptor)
            throw StorageError(.busy, "another transfer or restore writes to the same target; wait until it has ended")
        }
        var found = [UInt8](repeating: 0, count: Self.content.count + 1)
        let count = pread(descriptor, &found, found.count, 0)
        guard count == 0 || count == Self.content.count && found.prefix(count) == Self.content[...] else {
            Foundation.close(descriptor)
            throw StorageError(.alreadyExists, "\(path) is a file of another program; remove it, or choose another target")
        }
        wasLeft = count > 0
        _ = pwrite(descriptor, Self.content, Self.content.count, 0)
    }

    /// Returns whether a process holds the lock at a path.
    static func isHeld(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { return false }
        defer { Foundation.close(file) }
        return flock(file, LOCK_SH | LOCK_NB) != 0
    }

    deinit { Foundation.close(descriptor) }

    /// Removes the lock file.
    func remove() { unlink(path) }
}
