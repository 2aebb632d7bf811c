#if SQLite
internal import Foundation
internal import PolystoreStorage

/// A database file and the settings with which it is opened.
struct SQLitePlace: Sendable {
    let path: String
    let durability: Durability
    let busyTimeout: TimeInterval
    /// The pages that each connection keeps in memory.
    let cacheKilobytes: Int
    let checksums: SQLiteChecksums
    /// The file that every connection has to be one of; nil for whatever the path leads to.
    private(set) var identity: SQLiteFileIdentity?

    init(path: String, durability: Durability, busyTimeout: TimeInterval, cacheKilobytes: Int, checksums: SQLiteChecksums) {
        self.path = path
        self.durability = durability
        self.busyTimeout = busyTimeout
        self.cacheKilobytes = cacheKilobytes
        self.checksums = checksums
    }

    /// The place with the file that lies there now.
    var pinned: SQLitePlace {
        var pinned = self
        pinned.identity = SQLiteFileIdentity(path: path)
        return pinned
    }

    /// A connection that writes, or reads a file that nobody may write to.
    func writer(readOnly: Bool, create: Bool) throws(StorageError) -> SQLiteConnection {
        let connection = try opened(readOnly: readOnly, create: create)
        try connection.apply(checksums)
        if !readOnly {
            // The page size counts only before the first table; the journal mode stays with the file.
            try connection.execute("PRAGMA page_size = \(SQLiteConnection.pageSize)")
            try useLog(connection)
            try connection.apply(checksums)
            try connection.execute(synchronous)
        }
        try connection.execute("PRAGMA foreign_keys = OFF")
        return connection
    }

    /// A connection that writes to a file of another program: its settings stay as they are, and the engine keeps its references.
    func guest() throws(StorageError) -> SQLiteConnection {
        let connection = try opened(readOnly: false, create: false)
        if try connection.hasChecksums() {
            throw StorageError(
                .unsupported, "the pages of the file reserve 8 bytes for checksums, which are not kept in place; open it with mode=ro")
        }
        try connection.execute(synchronous + "; PRAGMA foreign_keys = ON")
        return connection
    }

    /// A connection with the settings of all of them. A damaged page is found when it is read, not when its cells lead astray.
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

    /// What a commit waits for. Without `fullfsync`, fsync of Apple's systems leaves the data in the cache of the disk; others ignore it.
    private var synchronous: String {
        durability == .full
            ? "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON" : "PRAGMA synchronous = NORMAL"
    }

    /// Several connections that open a new file at once all want to change its mode, which SQLite refuses without waiting: each would wait for
    /// the other's lock.
    private func useLog(_ connection: SQLiteConnection) throws(StorageError) {
        let deadline = Date().addingTimeInterval(busyTimeout)
        while true {
            do throws(StorageError) {
                return try connection.switchToLog()
            } catch  where error.code == .busy && Date() < deadline {
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }

    /// Says why a file cannot be opened, as far as the file system tells.
    private func placeError(_ error: StorageError) -> StorageError {
        guard error.code == .notFound || error.code == .permissionDenied else { return error }
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if manager.fileExists(atPath: path) {
            return StorageError(.permissionDenied, "the database file may not be opened", cause: error)
        }
        return manager.fileExists(atPath: folder)
            ? StorageError(.permissionDenied, "a database file may not be made in this folder", cause: error)
            : StorageError(.notFound, "the folder of the database file does not exist", cause: error)
    }

    /// - Throws: `notFound` where there is no file.
    func checkExists() throws(StorageError) {
        if !FileManager.default.fileExists(atPath: path) { throw StorageError(.notFound, "there is no SQLite database at this path") }
    }

    /// A connection that only reads.
    func reader() throws(StorageError) -> SQLiteConnection { try opened(readOnly: true, create: false) }
}
#endif
