#if SQLite
internal import CSQLite
public import Foundation
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

/// A store in a SQLite database file.
///
/// The file is an ordinary database of ordinary tables that any tool can read. It is in WAL mode: one writer at a time, readers that
/// never wait for it, and other processes beside this one.
public final class SQLiteStore: StorageInterface {
    /// `sqlite`.
    public static let storeType = "sqlite"

    /// The number that marks the file as one of ours: "poly".
    private static let applicationID: Int64 = 0x706f_6c79

    /// The configuration whose entities the store keeps; nil for all.
    public let configuration: String?
    /// The path of the file.
    public let path: String
    private let durability: Durability
    private let busyTimeout: TimeInterval
    private let isReadOnly: Bool
    private let state = Mutex(State())

    private struct State: Sendable {
        var core: SQLiteCore?
        var wasClosed = false
    }

    /// A store in a file, which is opened when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - configuration: The configuration whose entities the store keeps; nil for all.
    ///   - durability: Whether a commit waits for the disk.
    ///   - busyTimeout: Seconds to wait for other connections.
    ///   - readOnly: Whether changes are refused.
    public init(
        path: String, configuration: String? = nil, durability: Durability = .full, busyTimeout: TimeInterval = 10,
        readOnly: Bool = false
    ) {
        self.path = path
        self.configuration = configuration
        self.durability = durability
        self.busyTimeout = busyTimeout
        isReadOnly = readOnly
    }

    /// The store of a URL: `sqlite:PATH?mode=ro&durability=full|relaxed&busy=SECONDS`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["mode", "durability", "busy"])
        if url.place.isEmpty { throw StorageError(.invalidConfiguration, "a SQLite URL names a file: sqlite:shop.db") }
        let mode = url.option("mode") ?? "rw"
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "mode is ro or rw") }
        guard let busy = TimeInterval(url.option("busy") ?? "10"), busy >= 0 else {
            throw StorageError(.invalidConfiguration, "busy is a number of seconds")
        }
        self.init(
            path: url.place, configuration: configuration, durability: try url.durability(), busyTimeout: busy, readOnly: mode == "ro")
    }

    /// What SQLite can do.
    public var capabilities: StorageCapabilities {
        StorageCapabilities(
            [.persistent, .multipleProcesses, .snapshotReads, .savepoints, .history, .durableCommits],
            maximumValueBytes: 1_000_000_000, maximumColumns: 1990)
    }

    /// Opens the file, making it where it is missing.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if state.withLock({ $0.core != nil }) { throw StorageError(.alreadyExists, "the store is already open") }
        let readOnly = request.readOnly || isReadOnly
        let exists = FileManager.default.fileExists(atPath: path)
        if !exists, !request.createIfMissing || request.schema == nil || readOnly {
            throw StorageError(.notFound, "there is no SQLite database at this path")
        }
        let connection = try connect(readOnly: readOnly, create: true)
        let (metadata, wasCreated) = try SQLiteSetup(connection, Self.applicationID).metadata(request)
        try metadata.check(request)
        let (path, busy) = (path, busyTimeout)
        let readers = SQLitePool(size: 8, timeout: 30) { try Self.reader(path, busy) }
        let (durability, connect) = (durability, connectWriter)
        _ = durability
        let writer = SQLiteWriterSeat(readOnly ? nil : connection, open: connect)
        let core = SQLiteCore(metadata, readers: readers, writer: writer)
        state.withLock {
            $0.core = core
            $0.wasClosed = false
        }
        isReadOnlyNow.store(readOnly, ordering: .releasing)
        return StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: wasCreated)
    }

    private let isReadOnlyNow = Atomic(false)

    private var connectWriter: @Sendable () throws(StorageError) -> SQLiteConnection {
        { [self] () throws(StorageError) in try connect(readOnly: false, create: false) }
    }

    private func connect(readOnly: Bool, create: Bool) throws(StorageError) -> SQLiteConnection {
        let connection: SQLiteConnection
        do throws(StorageError) {
            connection = try SQLiteConnection(path: path, readOnly: readOnly, create: create)
        } catch {
            throw placeError(error)
        }
        sqlite3_busy_timeout(connection.handle, Int32(busyTimeout * 1000))
        if !readOnly {
            // The page size counts only before the first table; the journal mode stays with the file.
            try connection.execute("PRAGMA page_size = 8192")
            try connection.execute("PRAGMA journal_mode = WAL")
            try connection.execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
        }
        try connection.execute("PRAGMA cache_size = -65536; PRAGMA mmap_size = 0; PRAGMA foreign_keys = OFF")
        return connection
    }

    /// Says why a file cannot be opened, as far as the file system tells.
    private func placeError(_ error: StorageError) -> StorageError {
        guard error.code == .notFound else { return error }
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            return isFolder.boolValue
                ? StorageError(.notADatabase, "the path is a folder, not a SQLite database", cause: error)
                : StorageError(.permissionDenied, "the database file may not be opened", cause: error)
        }
        return manager.fileExists(atPath: folder)
            ? StorageError(.permissionDenied, "a database file may not be made in this folder", cause: error)
            : StorageError(.notFound, "the folder of the database file does not exist", cause: error)
    }

    private static func reader(_ path: String, _ busy: TimeInterval) throws(StorageError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path, readOnly: true, create: false)
        sqlite3_busy_timeout(connection.handle, Int32(busy * 1000))
        try connection.execute("PRAGMA cache_size = -65536; PRAGMA mmap_size = 0")
        return connection
    }

    private func core() throws(StorageError) -> SQLiteCore {
        guard let core = state.withLock({ $0.core }) else {
            throw StorageError(.storeClosed, "the store is not open; add it to a stack or call open")
        }
        return core
    }

    /// Starts to read one snapshot.
    public func beginRead() throws(StorageError) -> any StorageReader {
        let core = try core()
        let connection = try core.readers.take()
        do throws(StorageError) {
            // BEGIN alone takes no snapshot: the first read does.
            try connection.execute("BEGIN")
            _ = try connection.integer("SELECT 1 FROM polystore_metadata LIMIT 1")
        } catch {
            try? connection.execute("ROLLBACK")
            core.readers.give(connection)
            throw error
        }
        return SQLiteReader(core, connection)
    }

    /// Starts the write transaction, waiting for the one before it.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let core = try core()
        if isReadOnlyNow.load(ordering: .acquiring) { throw StorageError(.readOnly, "the store was opened for reading only") }
        let connection = try core.writer.enter(timeout: options.timeout)
        do throws(StorageError) {
            sqlite3_busy_timeout(connection.handle, Int32(min(options.timeout, busyTimeout) * 1000))
            try connection.execute("BEGIN IMMEDIATE")
            return try SQLiteWriter(core, connection, options)
        } catch {
            core.writer.leave()
            throw error
        }
    }

    /// Closes the file.
    public func close() throws(StorageError) {
        let core = state.withLock { state in
            defer {
                state.core = nil
                state.wasClosed = true
            }
            return state.core
        }
        core?.close()
    }

    /// Closes the file and removes it with the files beside it.
    public func erase() throws(StorageError) {
        try close()
        for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}
#endif
