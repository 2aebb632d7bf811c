#if LMDB
internal import PolystoreFoundation
internal import PolystoreStorage

/// One of the two meta pages, which contain the trees of a snapshot (`MDB_meta` in mdb.c, format 1): 16 bytes of page header, magic,
/// version, map address, map size, the trees of free pages and of names, of which the first begins with the page size, then the last page
/// and the number of the transaction. Transaction n writes page n % 2.
struct LMDBMeta: Equatable {
    private static let magic: UInt32 = 0xbeef_c0de
    private static let bytes = 152
    private static let pageFlag: UInt16 = 0x08
    /// An upper limit of the size of any file.
    private static let mostBytes: UInt64 = 1 << 47
    /// The maximum number of times that the pages are read again because other processes commit.
    private static let attempts = 100

    let pageSize: UInt64
    let free: LMDBTree
    let names: LMDBTree
    let lastPage: UInt64
    let transaction: UInt64

    /// Reads the meta page at an offset, or returns nil where there is none.
    private init?(_ file: LMDBFile, at offset: UInt64) throws(StorageError) {
        var bytes = [UInt8](repeating: 0, count: Self.bytes), outcome = Result<Bool, StorageError>.success(false)
        bytes.withUnsafeMutableBytes { buffer in
            do throws(StorageError) { outcome = .success(try file.read(buffer, at: offset)) } catch { outcome = .failure(error) }
        }
        guard try outcome.get() else { return nil }
        func number<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            bytes.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
        }
        guard number(10, UInt16.self) == Self.pageFlag, number(16, UInt32.self) == Self.magic, number(20, UInt32.self) == 1 else {
            return nil
        }
        pageSize = UInt64(number(40, UInt32.self))
        free = bytes.withUnsafeBytes { LMDBTree($0, at: 40) }
        names = bytes.withUnsafeBytes { LMDBTree($0, at: 88) }
        lastPage = number(136, UInt64.self)
        transaction = number(144, UInt64.self)
    }

    /// Returns the two meta pages of a file, the newer one first.
    ///
    /// - Throws: `notADatabase` if the file does not begin with a meta page; `corrupted` if the pages are inconsistent.
    static func pair(_ file: LMDBFile) throws(StorageError) -> (newest: LMDBMeta, other: LMDBMeta) {
        var found = try read(file)
        for _ in 0..<attempts {
            if let first = found.first, let second = found.second, let pair = pair(first, second) { return pair }
            let now = try read(file)
            if now == found { throw now.first == nil ? StorageError(.notADatabase, "the file is not an LMDB database") : LMDBCheck.damaged }
            // Another process has committed between reading the two pages.
            found = now
        }
        throw StorageError(.busy, "the LMDB file could not be opened, because other processes commit too often; try again")
    }

    private struct Found: Equatable {
        let first: LMDBMeta?
        let second: LMDBMeta?
    }

    private static func read(_ file: LMDBFile) throws(StorageError) -> Found {
        let first = try LMDBMeta(file, at: 0)
        guard let first, first.hasPageSize else { return Found(first: first, second: nil) }
        return Found(first: first, second: try LMDBMeta(file, at: first.pageSize))
    }

    /// Returns the newer and the older page, or nil if they are inconsistent. In a new file both have transaction number 0; later their
    /// numbers are consecutive.
    private static func pair(_ first: LMDBMeta, _ second: LMDBMeta) -> (newest: LMDBMeta, other: LMDBMeta)? {
        let (low, high) = first.transaction < second.transaction ? (first, second) : (second, first)
        let isSound =
            second.pageSize == first.pageSize && high.transaction - low.transaction <= 1 && first.transaction % 2 == 0
            && (second.transaction % 2 == 1 || second.transaction == 0) && high.isPlausible
        return isSound ? (high, low) : nil
    }

    private var hasPageSize: Bool { (512...65_536).contains(pageSize) && pageSize.nonzeroBitCount == 1 }

    private var isPlausible: Bool {
        guard lastPage >= 1, lastPage < Self.mostBytes / pageSize, free.isPlausible, names.isPlausible, names.flags == 0 else {
            return false
        }
        return [free, names].allSatisfy { tree in tree.root.map { $0 > 1 && $0 <= lastPage } ?? true }
    }
}
#endif
