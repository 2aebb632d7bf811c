#if LMDB
internal import CLMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage

#if canImport(CDispatch)
// On Linux the members of `stat` are this module's.
internal import CDispatch
#endif

/// Where the files of a store lie, with symbolic links resolved: the lock file is named after the data file, so programs that know the file by
/// different links use one lock.
struct LMDBLocation: Sendable {
    /// The folder, or the data file: what LMDB is given.
    let path: String
    let usesFolder: Bool

    init(_ path: String, usesFolder: Bool) {
        self.path = Self.resolved(path)
        self.usesFolder = usesFolder
    }

    var dataPath: String { usesFolder ? path + "/data.mdb" : path }
    var lockPath: String { usesFolder ? path + "/lock.mdb" : path + "-lock" }

    /// The path without symbolic links; of a file that is still to be made too.
    private static func resolved(_ path: String, depth: Int = 0) -> String {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        if let real = realpath(absolute, nil) {
            defer { free(real) }
            return String(cString: real)
        }
        let folder = URL(fileURLWithPath: absolute).deletingLastPathComponent()
        if depth < 8, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: absolute) {
            return resolved(URL(fileURLWithPath: target, relativeTo: folder).path, depth: depth + 1)
        }
        guard let real = realpath(folder.path, nil) else { return absolute }
        defer { free(real) }
        return URL(fileURLWithPath: String(cString: real)).appendingPathComponent(URL(fileURLWithPath: absolute).lastPathComponent).path
    }

    private enum Found {
        case nothing, empty, file
    }

    /// Finds the data file, or makes it where the request allows.
    ///
    /// - Returns: Whether it was there.
    /// - Throws: `notFound`, `notADatabase`.
    func prepare(_ request: OrderedOpen, firstMap: Int) throws(StorageError) -> Bool {
        if try find() == .file { return true }
        guard request.create else {
            if try find() == .empty { throw StorageError(.notADatabase, "the file is no LMDB database") }
            throw StorageError(.notFound, "there is no LMDB store at this path")
        }
        if usesFolder { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        let folder = URL(fileURLWithPath: dataPath).deletingLastPathComponent().path
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
        case S_IFREG: return status.st_size == 0 ? .empty : .file
        case S_IFDIR: throw StorageError(.notADatabase, "the path is a folder, not an LMDB file; use subdir=1 for a folder")
        default: throw StorageError(.notADatabase, "the path is that of a device or a pipe, not of an LMDB file")
        }
    }

    /// Removes a file without contents, unless another process has put a database in its place meanwhile.
    private func removeEmpty() throws(StorageError) {
        let file = try LMDBFile(self, isReadOnly: false)
        try file.lock(.exclusive, WriteOptions())
        if try file.isAtPath, try file.size() == 0 { unlink(dataPath) }
    }

    /// Makes an empty database under another name and gives it its own when it is complete: nothing that is cut short is ever found there.
    /// A database that another process has put there meanwhile stays.
    private func make(_ firstMap: Int) throws(StorageError) {
        let new = "\(dataPath).new-\(UUID().uuidString)"
        defer { unlink(new) }
        let flags = UInt32(MDB_NOSUBDIR | MDB_NOLOCK)
        mdb_env_close(try LMDBHandle.open(new, flags, firstMap: firstMap, mapCount: 0, mode: 0o600).handle)
        try Self.synchronize(new)
        // File systems without hard links: there the name is taken over whoever has it, a moment after it was looked for.
        if link(new, dataPath) != 0, errno != EEXIST, try find() == .nothing, rename(new, dataPath) != 0 {
            throw LMDBError.error(errno)
        }
        try Self.synchronize(URL(fileURLWithPath: dataPath).deletingLastPathComponent().path)
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
