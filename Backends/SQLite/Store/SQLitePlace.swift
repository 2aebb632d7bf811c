#if SQLite
internal import PolystoreFoundation
internal import PolystoreStorage

/// The location of a database file and the settings with which it is opened.
struct SQLitePlace: Sendable {
    let path: String
    let durability: Durability
    let busyTimeout: TimeInterval
    /// The size of the page cache of each connection.
    let cacheKilobytes: Int
    private(set) var checksums: SQLiteChecksums
    /// The file that every connection must open; nil for any file at the path.
    private(set) var identity: SQLiteFileIdentity?

    init(path: String, durability: Durability, busyTimeout: TimeInterval, cacheKilobytes: Int, checksums: SQLiteChecksums) {
        self.path = path
        self.durability = durability
        self.busyTimeout = busyTimeout
        self.cacheKilobytes = cacheKilobytes
        self.checksums = checksums
    }

    /// The same location, restricted to the file that is there now.
    var pinned: SQLitePlace {
        var pinned = self
        pinned.identity = SQLiteFileIdentity(path: path)
        return pinned
    }

    /// Opens a connection that writes, or that reads a file without write permission.
    func writer(readOnly: Bool, create: Bool) throws(StorageError) -> SQLiteConnection {
        let connection = try opened(readOnly: readOnly, create: create)
        try connection.apply(checksums)
        if !readOnly {
            // A file of another program is refused before its settings are changed.
            _ = try SQLiteSetup(connection).readEntries()
            // The page size takes effect only before the first table is created. The journal mode is stored in the file.
            try connection.execute("PRAGMA page_size = \(SQLiteConnection.pageSize)")
            try useLog(connection)
            try connection.apply(checksums)
            try connection.execute(synchronous)
        }
        try connection.execute("PRAGMA foreign_keys = OFF")
        return connection
    }

    /// Opens a connection that writes to an existing file and does not change the file's settings.
    func visitor() throws(StorageError) -> SQLiteConnection { try opened(readOnly: false, create: false) }

    /// Copies all of the log to the database file and waits for the disk.
    ///
    /// - Throws: `busy` if another connection prevents it, for example by reading an older snapshot.
    @Sendable func emptyLog() throws(StorageError) {
        let connection = try visitor()
        try connection.execute(synchronous)
        if try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 { return }
        throw StorageError(.busy, "the write-ahead log could not be emptied after a failure of the disk, because it is in use; try again")
    }

    /// Opens a connection that writes to a file of another program. It does not change the file's settings, and the engine enforces
    /// references.
    func guest() throws(StorageError) -> SQLiteConnection {
        let connection = try visitor()
        if try connection.hasChecksums() {
            throw StorageError(
                .unsupported, "the database has page checksums, which are not supported in place; open it with mode=ro")
        }
        try connection.execute(synchronous + "; PRAGMA foreign_keys = ON")
        return connection
    }

    /// Opens a connection that makes tables of other programs, in a new file, too. It does not change the file's settings, and the engine
    /// does not enforce references.
    func maker() throws(StorageError) -> SQLiteConnection {
        var place = self
        place.checksums = .ignored
        let connection = try place.opened(readOnly: false, create: true)
        if try connection.hasChecksums() {
            throw StorageError(.unsupported, "the database has page checksums, which only files that Polystore creates can have")
        }
        try connection.execute(synchronous + "; PRAGMA foreign_keys = OFF")
        return connection
    }

    /// Opens a connection with the settings that all connections share. With them the engine detects a damaged page when it reads it,
    /// before it interprets its cells.
    private func opened(readOnly: Bool, create: Bool) throws(StorageError) -> SQLiteConnection {
        let connection: SQLiteConnection
        do throws(StorageError) {
            connection = try SQLiteConnection(path: path, readOnly: readOnly, create: create, checksums: checksums)
        } catch {
            if identity != nil, SQLiteFileIdentity(path: path) == nil { throw SQLiteFileIdentity.moved }
            throw placeError(error)
        }
        if let identity, SQLiteFileIdentity(path: path) != identity { throw SQLiteFileIdentity.moved }
        connection.wait(busyTimeout)
        try connection.execute("PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON")
        connection.cacheKilobytes = cacheKilobytes
        try connection.restoreCache()
        return connection
    }

    /// The statements that determine what a commit waits for. Without `fullfsync`, fsync on Apple's systems leaves the data in the cache of
    /// the disk; other systems ignore the setting.
    private var synchronous: String {
        durability == .full
            ? "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON" : "PRAGMA synchronous = NORMAL"
    }

    /// Switches the file to a write-ahead log. Several connections that open a new file at the same time all change its mode. SQLite
    /// refuses this without waiting, because each connection would wait for the lock of the other.
    private func useLog(_ connection: SQLiteConnection) throws(StorageError) {
        let deadline = Date().addingTimeInterval(busyTimeout)
        while true {
            do throws(StorageError) {
                return try connection.switchToLog()
            } catch  where error.code == .busy && Date() < deadline {
                Threads.pause(seconds: 0.002)
            }
        }
    }

    /// Returns the reason that a file cannot be opened, as far as the file system reveals it.
    private func placeError(_ error: StorageError) -> StorageError {
        guard error.code == .notFound || error.code == .permissionDenied else { return error }
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if manager.fileExists(atPath: path) {
            return StorageError(.permissionDenied, "permission to open the database file was denied; check its permissions", cause: error)
        }
        return manager.fileExists(atPath: folder)
            ? StorageError(
                .permissionDenied, "permission to create a database file in this folder was denied; check the folder's permissions",
                cause: error)
            : StorageError(.notFound, "the folder of the database file does not exist; create it first", cause: error)
    }

    /// Throws if there is no file.
    ///
    /// - Throws: `notFound`.
    func checkExists() throws(StorageError) {
        if !FileManager.default.fileExists(atPath: path) { throw StorageError(.notFound, "there is no SQLite database at this path") }
    }

    /// Opens a connection that only reads.
    func reader() throws(StorageError) -> SQLiteConnection { try opened(readOnly: true, create: false) }
}
#endif
