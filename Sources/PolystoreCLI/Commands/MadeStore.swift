internal import Foundation
internal import PolystoreStorage

/// A store in a new file. The store is created under a unique temporary name, so that a file which another program creates meanwhile is not
/// mistaken for it, and is renamed when it is complete.
struct MadeStore {
    /// The URL under which the store is created.
    let url: StoreURL
    private let path: String
    private let target: String
    private let lock: PartialLock?
    private let isContinued: Bool

    /// The treatment of the temporary store of a process that was interrupted.
    enum Interrupted {
        /// It stays, because each process has a name of its own.
        case ignored
        /// A later process continues its work.
        case continued
        /// A later process removes it and begins again.
        case replaced
    }

    /// Creates a store to be published later. Returns nil for a store that is not in a file, and if the file already exists.
    ///
    /// - Throws: `busy` if another process works on the same store; `alreadyExists` if another program's file has the temporary name.
    init?(_ store: any StorageInterface, _ url: StoreURL, interrupted: Interrupted = .ignored) throws(StorageError) {
        guard let file = store.ability((any LocalStorage).self)?.fileURL.path, !url.place.isEmpty else { return nil }
        // A dangling symbolic link also counts as an existing file.
        if Self.isThere(file) { return nil }
        try Self.checkLogs(of: file)
        target = file
        isContinued = interrupted == .continued
        switch interrupted {
        case .ignored:
            path = "\(file).\(UUID().uuidString.prefix(8)).partial"
            lock = nil
        case .continued:
            path = "\(file).partial"
            lock = try PartialLock("\(path).transfer")
        case .replaced:
            path = "\(file).restore.partial"
            lock = try PartialLock("\(path).transfer")
        }
        self.url = url.moved(to: path)
        if interrupted == .replaced { try replace() }
    }

    /// Removes what an interrupted process has left.
    private func replace() throws(StorageError) {
        if lock?.wasLeft == true { return removeFiles() }
        if !Self.isThere(path) { return }
        lock?.remove()
        throw StorageError(.alreadyExists, "\(name) is a file of another program; remove it, or choose another name for the store")
    }

    /// Throws if a log of a former database is beside the path of a new one, to which the engine would apply it.
    ///
    /// - Throws: `alreadyExists`, with the log.
    static func checkLogs(of path: String) throws(StorageError) {
        for suffix in ["-wal", "-journal"] {
            var status = stat()
            guard stat(path + suffix, &status) == 0, status.st_size > 0 else { continue }
            throw StorageError(
                .alreadyExists,
                "\(path)\(suffix) is the log of a database that was at the path before, and would be applied to the new one; move it to its "
                    + "database, or remove it")
        }
    }

    /// Whether a file or a symbolic link exists.
    private static func isThere(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 || errno != ENOENT
    }

    /// Renames the store, which must be closed, to the requested name.
    ///
    /// - Throws: `alreadyExists` if a file of that name exists by now. The temporary store is then removed, unless a later process can
    ///   continue.
    func publish() throws(StorageError) {
        var isPublished = false
        defer { if isPublished || !isContinued { remove() } else { unlock() } }
        var status = stat()
        // A log that contains commits means that they could not be copied into the file, for example because the disk is full.
        if stat(path + "-wal", &status) == 0, status.st_size > 0 { throw refusal(ENOSPC) }
        guard stat(path, &status) == 0 else { throw refusal(errno) }
        try Self.checkLogs(of: target)
        if status.st_mode & S_IFMT == S_IFDIR {
            // The rename replaces nothing except an empty folder.
            guard rename(path, target) == 0 else { throw refusal(errno) }
        } else if link(path, target) != 0 {
            guard errno == EPERM || errno == ENOTSUP else { throw refusal(errno) }
            // The file system does not support links, so a race between the two calls cannot be avoided.
            guard lstat(target, &status) != 0 else { throw refusal(EEXIST) }
            guard rename(path, target) == 0 else { throw refusal(errno) }
        }
        isPublished = true
        AtomicFile.synchroniseFolder(of: target)
    }

    /// The temporary name, without the folder.
    var name: String { URL(fileURLWithPath: path).lastPathComponent }

    /// Lets another process continue the work.
    func unlock() { lock?.remove() }

    /// Removes the files of the store under its temporary name.
    func remove() {
        removeFiles()
        lock?.remove()
    }

    private func removeFiles() {
        for suffix in ["", "-wal", "-shm", "-journal", "-lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        // A store is created under a name of this form, which remains if the process ends just then.
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path, unfinished = "\(name).new-"
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where file.hasPrefix(unfinished) {
            try? FileManager.default.removeItem(atPath: "\(folder)/\(file)")
        }
    }

    private func refusal(_ number: Int32) -> StorageError {
        let cause = POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO)
        if number == EEXIST || number == ENOTEMPTY {
            return StorageError(
                .alreadyExists, "another program has created a file or folder with the name of the store; it was not changed",
                cause: cause)
        }
        let rest = !isContinued ? "it was removed" : "it is kept as \(name), and the same command continues"
        return StorageError(.inputOutput, "the new store could not be renamed to its final name; \(rest)", cause: cause)
    }
}
