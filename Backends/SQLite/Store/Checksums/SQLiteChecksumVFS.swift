#if SQLite
internal import CSQLite
internal import PolystoreFoundation

/// A VFS that adds page checksums to the engine's default VFS, for database files that have them: https://sqlite.org/vfs.html
///
/// The default VFS handles all other files, such as logs and temporary files.
enum SQLiteChecksumVFS {
    typealias Pointer = UnsafeMutablePointer<sqlite3_vfs>

    /// The state of the VFS. It is created once and never changed or freed, because the engine may use it until the process ends.
    struct Tables {
        /// The default VFS.
        let next: Pointer
        let methods: UnsafePointer<sqlite3_io_methods>
        /// The methods for file systems that cannot share memory.
        let methodsWithoutSharedMemory: UnsafePointer<sqlite3_io_methods>
    }

    /// The engine's name of the VFS, which is registered on first use.
    static let name: String = {
        let name = "polystore-checksums"
        if let next = sqlite3_vfs_find(nil) { sqlite3_vfs_register(kept(vfs(over: next, name)), 0) }
        return name
    }()

    /// Returns a copy of a value in memory that is never freed.
    private static func kept<Value>(_ value: Value) -> UnsafeMutablePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: 1)
        memory.initialize(to: value)
        return memory
    }

    private static func tables(_ vfs: Pointer?) -> Tables { vfs!.pointee.pAppData.load(as: Tables.self) }

    private static func next(_ vfs: Pointer?) -> Pointer { tables(vfs).next }

    private static func vfs(over next: Pointer, _ name: String) -> sqlite3_vfs {
        let tables = Tables(
            next: next, methods: UnsafePointer(kept(SQLiteChecksumFile.table(hasSharedMemory: true))),
            methodsWithoutSharedMemory: UnsafePointer(kept(SQLiteChecksumFile.table(hasSharedMemory: false))))
        var vfs = sqlite3_vfs()
        vfs.iVersion = min(next.pointee.iVersion, 2)
        vfs.szOsFile = Int32(SQLiteChecksumFile.size) + next.pointee.szOsFile
        vfs.mxPathname = next.pointee.mxPathname
        vfs.zName = UnsafePointer(strdup(name))
        vfs.pAppData = UnsafeMutableRawPointer(kept(tables))
        vfs.xOpen = { Self.open($0, $1, $2, $3, $4) }
        vfs.xDelete = { Self.next($0).pointee.xDelete(Self.next($0), $1, $2) }
        vfs.xAccess = { Self.next($0).pointee.xAccess(Self.next($0), $1, $2, $3) }
        vfs.xFullPathname = { Self.next($0).pointee.xFullPathname(Self.next($0), $1, $2, $3) }
        vfs.xDlOpen = { Self.next($0).pointee.xDlOpen(Self.next($0), $1) }
        vfs.xDlError = { Self.next($0).pointee.xDlError(Self.next($0), $1, $2) }
        vfs.xDlSym = { Self.next($0).pointee.xDlSym(Self.next($0), $1, $2) }
        vfs.xDlClose = { Self.next($0).pointee.xDlClose(Self.next($0), $1) }
        vfs.xRandomness = { Self.next($0).pointee.xRandomness(Self.next($0), $1, $2) }
        vfs.xSleep = { Self.next($0).pointee.xSleep(Self.next($0), $1) }
        vfs.xCurrentTime = { Self.next($0).pointee.xCurrentTime(Self.next($0), $1) }
        vfs.xGetLastError = { Self.next($0).pointee.xGetLastError(Self.next($0), $1, $2) }
        if vfs.iVersion >= 2, next.pointee.xCurrentTimeInt64 != nil {
            vfs.xCurrentTimeInt64 = { Self.next($0).pointee.xCurrentTimeInt64(Self.next($0), $1) }
        }
        return vfs
    }

    private static func open(
        _ vfs: Pointer?, _ path: UnsafePointer<CChar>?, _ file: SQLiteChecksumFile.Pointer?, _ flags: Int32,
        _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        let tables = tables(vfs), next = tables.next
        guard flags & SQLITE_OPEN_MAIN_DB != 0, let file else { return next.pointee.xOpen(next, path, file, flags, outFlags) }
        return SQLiteChecksumFile.open(file, with: tables) { next.pointee.xOpen(next, path, $0, flags, outFlags) }
    }
}
#endif
