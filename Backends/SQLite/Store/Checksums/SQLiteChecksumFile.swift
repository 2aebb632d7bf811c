#if SQLite
internal import CSQLite

/// A database file that the engine has opened through `SQLiteChecksumVFS`. It writes and verifies the checksum of each page.
///
/// The engine allocates its memory, which contains the engine's part (`sqlite3_file`), the page size, and the file of the underlying VFS.
/// Like every file of the engine it is used by one connection, and therefore by one thread at a time.
///
/// Frames of the write-ahead log do not pass through it: the log has its own checksums, and a page gets its checksum when a checkpoint
/// copies it to the file.
enum SQLiteChecksumFile {
    typealias Pointer = UnsafeMutablePointer<sqlite3_file>

    /// The file control that announces the page size, an `Int32`, of a file with checksums that has no header yet. The engine reserves the
    /// numbers below 100.
    static let announcement: Int32 = 0x706f_6c79
    /// The number of bytes before the file of the underlying VFS, which the engine has aligned to 8.
    static let size = MemoryLayout<sqlite3_file>.stride + MemoryLayout<Int64>.stride
    /// SQLITE_IOERR_SHORT_READ: the bytes after the end of the file were filled with zeros.
    private static let shortRead: Int32 = 10 | 2 << 8
    /// SQLITE_IOCAP_SUBPAGE_READ: parts of pages may be read.
    private static let partialReads: Int32 = 0x8000

    /// Opens the file of the underlying VFS, in memory that the engine has allocated for both files.
    static func open(_ file: Pointer, with tables: SQLiteChecksumVFS.Tables, _ open: (Pointer) -> Int32) -> Int32 {
        let below = below(file)
        file.initialize(to: sqlite3_file(pMethods: nil))
        pageSize(file).initialize(to: 0)
        below.initialize(to: sqlite3_file(pMethods: nil))
        let code = open(below)
        guard let methods = below.pointee.pMethods else { return code }
        if code != SQLITE_OK {
            _ = methods.pointee.xClose(below)
            return code
        }
        let hasSharedMemory = methods.pointee.iVersion >= 2 && methods.pointee.xShmMap != nil
        file.pointee.pMethods = hasSharedMemory ? tables.methods : tables.methodsWithoutSharedMemory
        return code
    }

    /// Returns a pointer to the page size, which is 0 for a file without checksums.
    private static func pageSize(_ file: Pointer?) -> UnsafeMutablePointer<Int64> {
        UnsafeMutableRawPointer(file! + 1).assumingMemoryBound(to: Int64.self)
    }

    private static func below(_ file: Pointer?) -> Pointer {
        (UnsafeMutableRawPointer(file!) + size).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func methods(_ file: Pointer?) -> UnsafePointer<sqlite3_io_methods> { below(file).pointee.pMethods }

    /// Returns the methods of a file. Without the methods of version 3, the engine does not map the file into memory, which would bypass
    /// the checksums.
    static func table(hasSharedMemory: Bool) -> sqlite3_io_methods {
        var table = sqlite3_io_methods()
        table.iVersion = hasSharedMemory ? 2 : 1
        table.xRead = { Self.read($0, $1, $2, $3) }
        table.xWrite = { Self.write($0, $1, $2, $3) }
        table.xFileControl = { Self.control($0, $1, $2) }
        table.xDeviceCharacteristics = { Self.methods($0).pointee.xDeviceCharacteristics(Self.below($0)) & ~Self.partialReads }
        table.xClose = { Self.methods($0).pointee.xClose(Self.below($0)) }
        table.xTruncate = { Self.methods($0).pointee.xTruncate(Self.below($0), $1) }
        table.xSync = { Self.methods($0).pointee.xSync(Self.below($0), $1) }
        table.xFileSize = { Self.methods($0).pointee.xFileSize(Self.below($0), $1) }
        table.xLock = { Self.methods($0).pointee.xLock(Self.below($0), $1) }
        table.xUnlock = { Self.methods($0).pointee.xUnlock(Self.below($0), $1) }
        table.xCheckReservedLock = { Self.methods($0).pointee.xCheckReservedLock(Self.below($0), $1) }
        table.xSectorSize = { Self.methods($0).pointee.xSectorSize(Self.below($0)) }
        if !hasSharedMemory { return table }
        table.xShmMap = { Self.methods($0).pointee.xShmMap(Self.below($0), $1, $2, $3, $4) }
        table.xShmLock = { Self.methods($0).pointee.xShmLock(Self.below($0), $1, $2, $3) }
        table.xShmBarrier = { Self.methods($0).pointee.xShmBarrier(Self.below($0)) }
        table.xShmUnmap = { Self.methods($0).pointee.xShmUnmap(Self.below($0), $1) }
        return table
    }

    // MARK: Pages

    private static func read(_ file: Pointer?, _ bytes: UnsafeMutableRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        let code = methods(file).pointee.xRead(below(file), bytes, count, offset)
        // A page that the end of the file cuts short is damaged. A page after the end is all zeros, which match their checksum.
        guard code == SQLITE_OK || code == shortRead, let bytes else { return code }
        let count = Int(count), header = noteHeader(file, bytes, count, offset), pageSize = Int(pageSize(file).pointee)
        if let header, pageSize == 0, count == header.pageSize { return lostMark(bytes, count) ? SQLiteChecksums.mismatch : code }
        if pageSize == 0 { return code }
        if count == pageSize { return SQLiteChecksums.fits(bytes, size: count) ? code : SQLiteChecksums.mismatch }
        // The engine reads parts of the first page to check whether the file has changed, and some versions read values without their
        // cache.
        if offset < pageSize { return code }
        let whole = verifyPage(file, size: pageSize, at: offset / Int64(pageSize) * Int64(pageSize))
        return whole == SQLITE_OK ? code : whole
    }

    /// Verifies the complete page of which a part was read.
    private static func verifyPage(_ file: Pointer?, size: Int, at offset: Int64) -> Int32 {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { page in
            let code = methods(file).pointee.xRead(below(file), page.baseAddress, Int32(size), offset)
            guard code == SQLITE_OK || code == shortRead, let start = page.baseAddress else { return code }
            return SQLiteChecksums.fits(start, size: size) ? SQLITE_OK : SQLiteChecksums.mismatch
        }
    }

    private static func write(_ file: Pointer?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64) -> Int32 {
        if let bytes {
            let count = Int(count)
            noteHeader(file, bytes, count, offset)
            if count == Int(pageSize(file).pointee) {
                // The page is the engine's own copy, whose reserved bytes it leaves to the VFS.
                UnsafeMutableRawPointer(mutating: bytes).storeBytes(
                    of: SQLiteChecksums.checksum(of: bytes, size: count).littleEndian, toByteOffset: count - SQLiteChecksums.size,
                    as: UInt64.self)
            }
        }
        return methods(file).pointee.xWrite(below(file), bytes, count, offset)
    }

    /// Derives from the header of the file, when it is read or written, whether pages have checksums.
    @discardableResult
    private static func noteHeader(_ file: Pointer?, _ bytes: UnsafeRawPointer, _ count: Int, _ offset: Int64) -> SQLiteFileHeader? {
        guard offset == 0, let header = SQLiteFileHeader(UnsafeRawBufferPointer(start: bytes, count: count)) else { return nil }
        pageSize(file).pointee = header.hasChecksums ? Int64(header.pageSize) : 0
        return header
    }

    /// Whether the first page would match its checksum if its header declared checksums. In that case the header is damaged, and no page
    /// would be verified.
    private static func lostMark(_ page: UnsafeMutableRawPointer, _ size: Int) -> Bool {
        let reserved = page.load(fromByteOffset: SQLiteFileHeader.reservedOffset, as: UInt8.self)
        page.storeBytes(of: UInt8(SQLiteChecksums.size), toByteOffset: SQLiteFileHeader.reservedOffset, as: UInt8.self)
        defer { page.storeBytes(of: reserved, toByteOffset: SQLiteFileHeader.reservedOffset, as: UInt8.self) }
        return SQLiteChecksums.fits(page, size: size)
    }

    private static func control(_ file: Pointer?, _ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        guard operation == announcement, let argument else {
            return methods(file).pointee.xFileControl(below(file), operation, argument)
        }
        pageSize(file).pointee = Int64(argument.load(as: Int32.self))
        return SQLITE_OK
    }
}
#endif
