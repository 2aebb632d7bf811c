#if LMDB
internal import CLMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage

#if canImport(CDispatch)
// On Linux the members of `stat` are this module's.
internal import CDispatch
#endif

/// Where the files of a store lie, with symbolic links resolved. The lock file follows from the name of the data file alone, so programs that
/// know the file by different links, or by its folder, use one lock.
struct LMDBLocation: Sendable {
    private static let dataName = "data.mdb"

    let dataPath: String
    /// Whether the program named the folder: then it belongs to the store.
    let ownsFolder: Bool

    init(_ path: String, usesFolder: Bool) {
        dataPath = Self.resolved(usesFolder ? "\(path)/\(Self.dataName)" : path)
        ownsFolder = usesFolder
    }

    /// Whether LMDB is given the folder: the name of the data file is the one that it has in a folder of its own.
    var usesFolder: Bool { url.lastPathComponent == Self.dataName }
    /// What LMDB is given.
    var path: String { usesFolder ? folder : dataPath }
    var lockPath: String { usesFolder ? "\(folder)/lock.mdb" : "\(dataPath)-lock" }
    /// The folder of the data file.
    var folder: String { url.deletingLastPathComponent().path }
    private var url: URL { URL(fileURLWithPath: dataPath) }

    /// The path without symbolic links; of a file that is still to be made too.
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

    private enum Found {
        case nothing, empty, file
        /// A file with another name, as one has whose maker ended before it removed the first.
        case linkedFile
    }

    /// Finds the data file, or makes it where the request allows.
    ///
    /// - Returns: Whether it was there.
    /// - Throws: `notFound`, `notADatabase`.
    func prepare(_ request: OrderedOpen, firstMap: Int) throws(StorageError) -> Bool {
        let found = try find()
        if found == .linkedFile, !request.readOnly { removeUnfinished() }
        if found == .file || found == .linkedFile { return true }
        guard request.create else {
            if found == .empty { throw StorageError(.notADatabase, "the file is no LMDB database") }
            throw StorageError(.notFound, "there is no LMDB store at this path")
        }
        if ownsFolder { try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        if !FileManager.default.fileExists(atPath: folder) {
            throw StorageError(.notFound, "the folder of the LMDB store does not exist")
        }
        if try find() == .empty { try removeEmpty() }
        try make(firstMap)
        return false
    }

    private func find() throws(StorageError) -> Found {
        var status = stat()
        if stat(dataPath, &status) != 0 {
            if errno == ENOENT || errno == ENOTDIR { return .nothing }
            throw LMDBError.error(errno)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return status.st_size == 0 ? .empty : status.st_nlink > 1 ? .linkedFile : .file
        case S_IFDIR: throw StorageError(.notADatabase, "the path is a folder, not an LMDB file; use subdir=1 for a folder")
        default: throw StorageError(.notADatabase, "the path is that of a device or a pipe, not of an LMDB file")
        }
    }

    /// Removes a file without contents, unless another process has put a database in its place meanwhile.
    private func removeEmpty() throws(StorageError) {
        let file: LMDBFile
        do throws(StorageError) { file = try LMDBFile(self, isReadOnly: false) } catch {
            // The other process has removed it.
            if error.code == .notFound { return }
            throw error
        }
        try file.lock(WriteOptions())
        if try file.isAtPath, try file.size() == 0 { unlink(dataPath) }
    }

    /// Makes an empty database under another name and gives it its own when it is complete: nothing that is cut short is ever found there.
    /// A database that another process has put there meanwhile stays.
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
        // File systems without hard links: there the name is taken over whoever has it, a moment after it was looked for.
        if link(new, dataPath) != 0, errno != EEXIST, try find() == .nothing, rename(new, dataPath) != 0 {
            throw LMDBError.error(errno)
        }
        try Self.synchronize(folder)
    }

    private var unfinishedPrefix: String { "\(url.lastPathComponent).new-" }

    /// Makes an empty file for a database that gets its own name later; its descriptor keeps a lock as long as somebody works on it.
    private func makeUnfinished() throws(StorageError) -> (path: String, claim: Int32) {
        while true {
            let path = "\(folder)/\(unfinishedPrefix)\(UUID().uuidString)",
                descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw LMDBError.error(errno) }
            var now = stat()
            // Before it was locked another process may have taken it for one that was left.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, stat(path, &now) == 0 { return (path, descriptor) }
            close(descriptor)
        }
    }

    /// Removes what was left by those who ended while they made a database of this name.
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
