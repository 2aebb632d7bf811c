package import Foundation

/// A file that appears under its name when it is complete, in place of one that had the name before.
///
/// Until then its contents are in a file beside it that only its owner can read, which no link planted there can lead elsewhere. A pipe
/// or a device takes the contents as they come.
package final class AtomicFile {
    private let handle: FileHandle
    private let path: String
    /// Where the contents are until they are complete; nil for a pipe or a device.
    private let partial: String?
    private var isFinished = false

    /// A file that will have a name; where the name is that of a link, the file that it leads to is replaced.
    ///
    /// - Throws: `permissionDenied` where it cannot be made.
    package init(_ path: String) throws(StorageError) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var status = stat()
        let isSpecial = stat(target, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        let partial = isSpecial ? nil : "\(target).\(UUID().uuidString.prefix(8)).partial"
        let flags = isSpecial ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        let descriptor = open(partial ?? target, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.refusal(path, errno) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        self.path = target
        self.partial = partial
    }

    deinit {
        if let partial, !isFinished { unlink(partial) }
    }

    /// Appends bytes.
    ///
    /// - Throws: `diskFull` or `inputOutput`.
    package func write(_ data: Data) throws(StorageError) {
        do { try handle.write(contentsOf: data) } catch { throw Self.refusal(path, errno, error) }
    }

    /// Gives the file its name, with the permissions that a new file has, after the contents are on the disk.
    package func finish() throws(StorageError) {
        defer { try? handle.close() }
        guard let partial else { return }
        let mask = umask(0)
        umask(mask)
        guard fchmod(handle.fileDescriptor, 0o666 & ~mask) == 0, fsync(handle.fileDescriptor) == 0, rename(partial, path) == 0 else {
            throw Self.refusal(path, errno)
        }
        isFinished = true
        Self.synchroniseFolder(of: path)
    }

    /// Makes the names of files in a folder survive a loss of power, where the file system can.
    package static func synchroniseFolder(of path: String) {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private static func refusal(_ path: String, _ number: Int32, _ cause: (any Error)? = nil) -> StorageError {
        let cause = cause ?? POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO)
        let name = URL(fileURLWithPath: path).lastPathComponent.excerpt()
        switch number {
        case ENOSPC, EDQUOT:
            return StorageError(.diskFull, "there is no room left for the file \(name); make room, or choose another", cause: cause)
        case EACCES, EPERM, EROFS, EISDIR, ENOENT, ENOTDIR:
            return StorageError(.permissionDenied, "the file \(name) cannot be written; look at its folder and permissions", cause: cause)
        default: return StorageError(.inputOutput, "the file \(name) could not be written", cause: cause)
        }
    }
}
