package import PolystoreFoundation

/// A file that is written under a temporary name and then atomically renamed, replacing an existing file.
///
/// The temporary file is in the same folder, can be read only by its owner, and is never opened through a symbolic link. If the target is a
/// pipe or a device, contents are written to it directly.
package final class AtomicFile {
    private let descriptor: Int32
    private let path: String
    /// The path of the temporary file, or nil for a pipe or a device.
    private let partial: String?
    private var isFinished = false
    private var isClosed = false

    /// Creates a file. If the path is that of a symbolic link, the target of the link is replaced.
    ///
    /// - Throws: `permissionDenied` if the file cannot be created.
    package init(_ path: String) throws(StorageError) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        var status = stat()
        let isSpecial = stat(target, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        let partial = isSpecial ? nil : "\(target).\(UUID().uuidString.prefix(8)).partial"
        let flags = isSpecial ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        descriptor = open(partial ?? target, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.refusal(path, errno) }
        self.path = target
        self.partial = partial
    }

    deinit {
        if let partial, !isFinished { unlink(partial) }
        closeOnce()
    }

    /// Appends bytes.
    ///
    /// - Throws: `diskFull` or `inputOutput`.
    package func write(_ data: Data) throws(StorageError) {
        let failure = isClosed ? EBADF : data.withUnsafeBytes { Self.failure(writing: $0, descriptor) }
        if let failure { throw Self.refusal(path, failure) }
    }

    /// Synchronises the contents to disk and renames the file, with the permissions of a regular new file.
    package func finish() throws(StorageError) {
        defer { closeOnce() }
        guard let partial else { return }
        let mask = umask(0)
        umask(mask)
        guard fchmod(descriptor, 0o666 & ~mask) == 0, fsync(descriptor) == 0, rename(partial, path) == 0 else {
            throw Self.refusal(path, errno)
        }
        isFinished = true
        Self.synchroniseFolder(of: path)
    }

    /// Makes the names of the files in a folder survive a loss of power, if the file system supports it.
    package static func synchroniseFolder(of path: String) {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    private func closeOnce() {
        if !isClosed { close(descriptor) }
        isClosed = true
    }

    /// Writes bytes, and returns the error number of the system if that fails.
    private static func failure(writing bytes: UnsafeRawBufferPointer, _ descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let count = PolystoreFoundation.write(descriptor, start, rest.count)
            if count < 0, errno != EINTR { return errno }
            rest = rest.dropFirst(max(count, 0))
        }
        return nil
    }

    private static func refusal(_ path: String, _ number: Int32) -> StorageError {
        let cause = POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO)
        let name = URL(fileURLWithPath: path).lastPathComponent.excerpt()
        switch number {
        case ENOSPC, EDQUOT:
            return StorageError(.diskFull, "no space is left for the file \(name); free space, or write to another volume", cause: cause)
        case EACCES, EPERM, EROFS, EISDIR, ENOENT, ENOTDIR:
            return StorageError(
                .permissionDenied, "the file \(name) cannot be written; check that its folder exists and is writable", cause: cause)
        default: return StorageError(.inputOutput, "writing the file \(name) failed; check the disk and try again", cause: cause)
        }
    }
}
