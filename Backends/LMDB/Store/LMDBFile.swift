#if LMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage

/// Looks at a file before LMDB maps it: a map over a file of another kind, or over one that was cut, can end the process.
struct LMDBFile {
    private static let magic: UInt32 = 0xbeef_c0de

    let path: String
    let usesFolder: Bool

    private var dataPath: String { usesFolder ? path + "/data.mdb" : path }

    /// Whether the file is there and looks like an LMDB database.
    ///
    /// - Throws: `notFound`, `notADatabase` or `corrupted`.
    func check(_ request: OrderedOpen) throws(StorageError) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: dataPath, isDirectory: &isFolder) else {
            if !request.create { throw StorageError(.notFound, "there is no LMDB store at this path") }
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            if !FileManager.default.fileExists(atPath: folder) {
                throw StorageError(.notFound, "the folder of the LMDB store does not exist")
            }
            return false
        }
        if isFolder.boolValue { throw StorageError(.notADatabase, "the path is a folder, not an LMDB file; use subdir=1 for a folder") }
        guard let file = FileHandle(forReadingAtPath: dataPath) else {
            throw StorageError(.permissionDenied, "the LMDB file may not be read")
        }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd(), (try? file.seek(toOffset: 0)) != nil else {
            throw StorageError(.inputOutput, "the LMDB file cannot be read")
        }
        if size == 0, request.create { return false }
        guard let head = try? file.read(upToCount: 4096), head.count >= 168 else {
            throw StorageError(.notADatabase, "the file is no LMDB database")
        }
        try check(head, size)
        return true
    }

    /// The meta page (`MDB_meta` in mdb.c, format 1): 16 bytes of page header, magic, version, map address, map size, two trees of 48
    /// bytes, of which the first begins with the page size, then the last page.
    private func check(_ head: Data, _ size: UInt64) throws(StorageError) {
        let (magic, version, pageSize, lastPage) = head.withUnsafeBytes { bytes in
            (
                bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self), bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self),
                bytes.loadUnaligned(fromByteOffset: 40, as: UInt32.self), bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
            )
        }
        guard magic == Self.magic, version == 1 else { throw StorageError(.notADatabase, "the file is no LMDB database") }
        guard pageSize >= 512, pageSize <= 65_536, size >= 2 * UInt64(pageSize), lastPage < size / UInt64(pageSize) + 1_000_000_000
        else {
            throw StorageError(.corrupted, "the LMDB file is damaged: its sizes do not fit")
        }
        // Pages that were given out but never written may lie behind the end; a file shorter than half of them was cut.
        if (lastPage + 1) * UInt64(pageSize) > size + UInt64(pageSize) * 16 {
            throw StorageError(.corrupted, "the LMDB file was cut: it is shorter than its pages")
        }
    }
}
#endif
