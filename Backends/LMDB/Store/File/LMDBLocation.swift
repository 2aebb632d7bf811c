#if LMDB
internal import CLMDB
internal import PolystoreFoundation
internal import PolystoreKeyValue
internal import PolystoreStorage

#if canImport(CDispatch)
// On Linux this module declares the members of `stat`.
internal import CDispatch
#endif

/// The location of a store's files, with symbolic links resolved. The name of the lock file depends only on the name of the data file, so
/// that programs that access the file by different links, or by its folder, use the same lock.
struct LMDBLocation: Sendable {
    private static let dataName = "data.mdb"

    let dataPath: String
    /// Whether the program specified the folder, which then belongs to the store.
    let ownsFolder: Bool
    /// Whether the path begins with a tilde, for which the store is refused.
    private let beginsWithTilde: Bool

    init(_ path: String, usesFolder: Bool) {
        beginsWithTilde = path.hasPrefix("~")
        // Foundation would expand the tilde.
        let path = beginsWithTilde ? "./\(path)" : path
        dataPath = Self.resolved(usesFolder ? "\(path)/\(Self.dataName)" : path)
        ownsFolder = usesFolder
    }

    /// Whether LMDB receives the folder: the data file has the name that LMDB uses within a folder.
    var usesFolder: Bool { url.lastPathComponent == Self.dataName }
    /// The path that LMDB receives.
    var path: String { usesFolder ? folder : dataPath }
    var lockPath: String { usesFolder ? "\(folder)/lock.mdb" : "\(dataPath)-lock" }
    /// The folder of the data file.
    var folder: String { url.deletingLastPathComponent().path }
    private var url: URL { URL(fileURLWithPath: dataPath) }

    /// Returns the path without symbolic links, also for a file that does not exist yet.
    private static func resolved(_ path: String, depth: Int = 0) -> String {
        let url = URL(fileURLWithPath: path).standardizedFileURL
        if let real = realpath(url.path, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        let folder = url.deletingLastPathComponent()
        if depth < 8, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) {
            return resolved(URL(fileURLWithPath: target, relativeTo: folder).path, depth: depth + 1)
        }
        if folder.path == url.path { return url.path }
        return URL(fileURLWithPath: resolved(folder.path, depth: depth)).appendingPathComponent(url.lastPathComponent).path
    }

    /// The state of the location before the data file was created there.
    struct Origin: Sendable {
        let file: FileOrigin
        /// Whether the folder was created together with the file.
        let madeFolder: Bool
    }

    private enum Found {
        case nothing, empty, file
        /// A file that has a second name, because the process that created it ended before it removed the first name.
        case linkedFile
    }

    /// Finds the data file, or creates it if the request allows.
    ///
    /// - Returns: What was there before; nil if the file existed.
    /// - Throws: `notFound`, `notADatabase`; `invalidConfiguration` for a path that begins with a tilde.
    func prepare(_ request: OrderedOpen, firstMap: Int) throws(StorageError) -> Origin? {
        if beginsWithTilde { throw StorageError.unexpandedTilde }
        let found = try find()
        if found == .linkedFile, !request.readOnly { removeUnfinished() }
        if found == .file || found == .linkedFile { return nil }
        guard request.create else {
            if found == .empty { throw StorageError(.notADatabase, "the file is not an LMDB database") }
            throw StorageError(.notFound, "there is no LMDB store at this path")
        }
        let origin = Origin(file: FileOrigin(path: dataPath), madeFolder: ownsFolder && !FileManager.default.fileExists(atPath: folder))
        if ownsFolder { try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        if !FileManager.default.fileExists(atPath: folder) {
            throw StorageError(.notFound, "the folder of the LMDB store does not exist")
        }
        if try find() == .empty { try removeEmpty() }
        try make(firstMap)
        return origin
    }

    /// Returns whether there is a data file with contents.
    ///
    /// - Throws: `notADatabase` for a folder, a pipe or a device.
    func hasFile() throws(StorageError) -> Bool {
        switch try find() {
        case .nothing, .empty: false
        case .file, .linkedFile: true
        }
    }

    /// The number of the folder in its file system, by which a store recognizes the folder that it has created; nil if there is none.
    var folderNumber: Data? { LMDBFile.Identity(path: folder).map { Data(String($0.number).utf8) } }

    /// Removes the data file and its lock file.
    ///
    /// The lock file is removed first, because a data file that another process creates in the meantime must not use a lock file that is
    /// about to be removed.
    func remove(returningTo origin: FileOrigin = .nothing) throws(StorageError) {
        try FileOrigin.nothing.restore(lockPath)
        try origin.restore(dataPath)
    }

    private func find() throws(StorageError) -> Found {
        var status = stat()
        if stat(dataPath, &status) != 0 {
            if errno == ENOENT || errno == ENOTDIR { return .nothing }
            throw LMDBError.error(errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return status.st_size == 0 ? .empty : status.st_nlink > 1 ? .linkedFile : .file
        case S_IFDIR: throw StorageError(.notADatabase, "the path is a folder, not an LMDB file; add the option subdir=1 for a folder")
        default: throw StorageError(.notADatabase, "the path is a device or a pipe, not an LMDB file")
        }
    }

    /// Removes a file without contents, unless another process has replaced it by a database in the meantime.
    private func removeEmpty() throws(StorageError) {
        let file: LMDBFile
        do throws(StorageError) { file = try LMDBFile(self, isReadOnly: false) } catch {
            // Another process has removed it.
            if error.code == .notFound { return }
            throw error
        }
        try file.lock(WriteOptions())
        if try file.isAtPath, try file.size() == 0 { unlink(dataPath) }
    }

    /// Creates an empty database under a temporary name and renames it when it is complete, so that an incomplete file never has the final
    /// name. A database that another process has created there in the meantime is kept.
    private func make(_ firstMap: Int) throws(StorageError) {
        removeUnfinished()
        let (new, claim) = try makeUnfinished()
        defer {
            unlink(new)
            close(claim)
        }
        let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK)
        mdb_env_close(try LMDBHandle.open(new, flags, firstMap: firstMap, mapCount: 0, mode: 0o600).handle)
        try Self.synchronize(new)
        // For file systems without hard links: rename replaces an existing file, shortly after the check that there is none.
        if link(new, dataPath) != 0, errno != EEXIST, try find() == .nothing, rename(new, dataPath) != 0 {
            throw LMDBError.error(errno)
        }
        try Self.synchronize(folder)
    }

    private var unfinishedPrefix: String { "\(url.lastPathComponent).new-" }

    /// Creates an empty file for a database that gets its final name later. The descriptor holds a lock as long as a process works on the
    /// file.
    private func makeUnfinished() throws(StorageError) -> (path: String, claim: Int32) {
        while true {
            let path = "\(folder)/\(unfinishedPrefix)\(UUID().uuidString)",
                descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw LMDBError.error(errno) }
            var now = stat()
            // Before it was locked, another process may have considered it abandoned and removed it.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, stat(path, &now) == 0 { return (path, descriptor) }
            close(descriptor)
        }
    }

    /// Removes the files of processes that ended while they created a database of this name.
    private func removeUnfinished() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(unfinishedPrefix) && UUID(uuidString: String(name.dropFirst(unfinishedPrefix.count))) != nil
        {
            let path = "\(folder)/\(name)", descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            var left = stat(), data = stat()
            let isData = fstat(descriptor, &left) == 0 && stat(dataPath, &data) == 0 && LMDBFile.Identity(left) == LMDBFile.Identity(data)
            if isData || flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(descriptor)
        }
    }

    private static func synchronize(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LMDBError.error(errno) }
        defer { close(descriptor) }
        // Some file systems cannot synchronize a folder.
        if fsync(descriptor) != 0, errno != EINVAL { throw LMDBError.error(errno) }
    }
}
#endif
