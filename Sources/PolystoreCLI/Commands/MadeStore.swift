internal import Foundation
internal import PolystoreStorage

/// A store in a file that does not exist yet: it is made under a name of its own, so that nothing which another program makes meanwhile is
/// taken for it, and gets its name when it is complete.
struct MadeStore {
    /// Where it is made.
    let url: StoreURL
    private let path: String
    private let target: String

    /// Nil for a store that is not in a file, and where there is something already.
    init?(_ store: any StorageInterface, _ url: StoreURL) {
        guard let file = store.ability((any LocalStorage).self)?.fileURL.path, !url.place.isEmpty else { return nil }
        var status = stat()
        // A link that leads nowhere is something, too.
        guard lstat(file, &status) != 0, errno == ENOENT else { return nil }
        target = file
        path = "\(file).\(UUID().uuidString.prefix(8)).partial"
        self.url = url.moved(to: path)
    }

    /// Gives the store, which is closed, the name that was asked for.
    ///
    /// - Throws: `alreadyExists` where something has the name by now; then the store that was made is removed.
    func publish() throws(StorageError) {
        defer { remove() }
        var status = stat()
        // A log with commits in it means that they could not be copied into the file, as on a full disk.
        if stat(path + "-wal", &status) == 0, status.st_size > 0 { throw refusal(ENOSPC) }
        guard stat(path, &status) == 0 else { throw refusal(errno) }
        if status.st_mode & S_IFMT == S_IFDIR {
            // Replaces nothing but an empty folder.
            guard rename(path, target) == 0 else { throw refusal(errno) }
        } else if link(path, target) != 0 {
            guard errno == EPERM || errno == ENOTSUP else { throw refusal(errno) }
            // A file system without links: the moment between the two calls cannot be helped.
            guard lstat(target, &status) != 0 else { throw refusal(EEXIST) }
            guard rename(path, target) == 0 else { throw refusal(errno) }
        }
        AtomicFile.synchroniseFolder(of: target)
    }

    /// Removes the files of the store under the name that it was made with.
    func remove() {
        for suffix in ["", "-wal", "-shm", "-journal", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func refusal(_ number: Int32) -> StorageError {
        let cause = POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO)
        if number == EEXIST || number == ENOTEMPTY {
            return StorageError(
                .alreadyExists, "another program has made something under the name of the store meanwhile; nothing of it was changed",
                cause: cause)
        }
        return StorageError(.inputOutput, "the store could not get its name; nothing was kept of it", cause: cause)
    }
}
