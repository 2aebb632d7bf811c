#if SQLite
internal import CSQLite
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Looks at a file for commits of other connections, on a connection of its own.
///
/// Unchecked: whoever makes it and the one thread of the watch use it one after the other.
final class SQLiteWatch: @unchecked Sendable {
    /// How often a look tries again where commits follow each other too closely to be counted in one snapshot.
    private static let attempts = 5
    /// What a file of our own says, in one snapshot: the newest position of the history, which is its floor where all of it was purged, and
    /// the number of quiet commits.
    private static let ownState = """
        SELECT max(coalesce((SELECT max(position) FROM polystore_history), 0),
                coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM polystore_notes WHERE name = '\(HistoryFloor.noteName)'), 0)),
            (SELECT next FROM polystore_counters WHERE root = '\(SQLiteWriter.quietCounter)')
        """

    /// What shows that other connections have committed.
    enum Evidence {
        /// The counts of commits that every connection of this library keeps.
        case ledger
        /// The log that triggers keep of the tables of another program; where nobody has made it yet, the engine's number of the version.
        case log
        /// The engine's number of the version.
        case version
    }

    private let connection: SQLiteConnection
    private let evidence: Evidence
    private let log: SQLiteLogHeader?
    /// Whether triggers list the changes of the tables of another program.
    private let hasTriggers: Bool
    private var ledger: CommitLedger
    private var version: Int64 = 0
    private var position: Int64 = 0

    private init(_ connection: SQLiteConnection, _ evidence: Evidence, _ commits: OwnCommits) throws(StorageError) {
        self.connection = connection
        self.evidence = evidence
        ledger = CommitLedger(commits)
        version = try Self.version(connection)
        log = evidence == .ledger ? try SQLiteLogHeader(connection) : nil
        let logs = "SELECT count(*) FROM main.sqlite_master WHERE name = 'polystore_log'"
        hasTriggers = evidence == .log ? try connection.integer(logs) == 1 : false
        if hasTriggers { position = try Self.position(connection) }
    }

    /// The watches over a file.
    static func watcher(_ place: SQLitePlace, _ evidence: Evidence, _ commits: OwnCommits) -> FileStoreWatcher {
        FileStoreWatcher {
            // The engine follows links, and keeps its other files where the file itself lies.
            let path = FileWatch.realPath(place.path), logs = [path + "-wal", path + "-journal"]
            #if canImport(Darwin)
            // There a watch opens its files: to close the database would drop the engine's locks on it. A commit writes to one of the others.
            return logs
            #else
            return [path] + logs
            #endif
        } begin: { () throws(StorageError) in
            try look(place, evidence, commits)
        }
    }

    /// Finds out how far a file is, and gives what looks for changes since then.
    private static func look(
        _ place: SQLitePlace, _ evidence: Evidence, _ commits: OwnCommits
    ) throws(StorageError) -> FileStoreWatcher.Look {
        let connection = try place.reader()
        try connection.execute("PRAGMA cache_size = -64")
        let watch = try SQLiteWatch(connection, evidence, commits)
        // A commit of this instance may be on its way.
        while evidence == .ledger, !watch.ledger.hasBegun {
            _ = try watch.ownChange()
            if !watch.ledger.hasBegun { Thread.sleep(forTimeInterval: 0.001) }
        }
        // What cannot be read now, as while the file is locked, is read at the next look.
        return { (try? watch.change()) ?? nil }
    }

    private func change() throws(StorageError) -> ChangeSignal? {
        if evidence == .ledger { return try ownChange() }
        let version = try Self.version(connection)
        if version == self.version { return nil }
        self.version = version
        if !hasTriggers { return .unknown }
        // They list every change of the tables, whoever makes it.
        let position = try Self.position(connection)
        defer { self.position = position }
        return position == self.position ? nil : .history
    }

    private func ownChange() throws(StorageError) -> ChangeSignal? {
        try ledger.signal { () throws(StorageError) in
            guard let log else { return try count(commits: nil) }
            for _ in 0..<Self.attempts {
                let before = log.newest
                let count = try count(commits: before.map(Int64.init))
                // Nobody has begun to commit in between: the snapshot is the one that was counted.
                if before == log.begun { return count }
            }
            return nil
        }
    }

    private func count(commits: Int64?) throws(StorageError) -> CommitCount {
        let version = commits == nil ? try Self.version(connection) : 0
        let statement = try connection.statement(Self.ownState)
        defer { statement.reset() }
        guard try statement.step() else { throw StorageError(.corrupted, "the key counters are missing") }
        return CommitCount(
            commits: commits, version: version, listed: sqlite3_column_int64(statement.handle, 0),
            quiet: sqlite3_column_int64(statement.handle, 1))
    }

    /// A number that changes when another connection commits: https://sqlite.org/pragma.html#pragma_data_version
    private static func version(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        try connection.integer("PRAGMA data_version") ?? 0
    }

    private static func position(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        try connection.integer("SELECT seq FROM main.sqlite_sequence WHERE name = 'polystore_log'") ?? 0
    }
}

/// The header of the index of a write-ahead log, in the memory that all connections share: it counts the transactions.
///
/// https://sqlite.org/walformat.html#the_wal_index_header: two copies of 48 bytes, written the second first; bytes 0 to 3 are the version
/// of the format, bytes 8 to 11 are raised by each transaction. It is read where the engine has it mapped: to open the file again and close
/// it would drop the engine's locks on it.
struct SQLiteLogHeader {
    private static let format: UInt32 = 3_007_000
    private static let size = 48

    private let memory: UnsafeRawPointer

    /// The header that a connection has mapped; nil where there is none, or one of another format.
    ///
    /// It stays mapped for as long as the connection is open.
    init?(_ connection: SQLiteConnection) throws(StorageError) {
        // A read maps it.
        _ = try connection.integer("SELECT count(*) FROM sqlite_master")
        guard try connection.isLogging() else { return nil }
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap
        else { return nil }
        var start: UnsafeMutableRawPointer?
        guard map(file, 0, 32_768, 0, &start) == SQLITE_OK, let start else { return nil }
        memory = UnsafeRawPointer(start)
        if memory.load(as: UInt32.self) != Self.format { return nil }
    }

    /// The count of the newest commit that is complete.
    var newest: UInt32? { number(at: 8) }
    /// The count of the newest commit, which may be about to become complete.
    var begun: UInt32? { number(at: Self.size + 8) }

    private func number(at offset: Int) -> UInt32? {
        // Other processes write it, each number at once.
        atomicMemoryFence()
        defer { atomicMemoryFence() }
        return memory.load(as: UInt32.self) == Self.format ? memory.load(fromByteOffset: offset, as: UInt32.self) : nil
    }

    private func atomicMemoryFence() { Synchronization.atomicMemoryFence(ordering: .sequentiallyConsistent) }
}
#endif
