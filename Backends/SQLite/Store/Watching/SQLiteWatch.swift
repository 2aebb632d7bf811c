#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// A watch for commits of other connections to a file, on a connection of its own.
///
/// Unchecked: the thread that creates it and the single thread of the watch use it one after the other.
final class SQLiteWatch: @unchecked Sendable {
    /// The maximum number of attempts of a poll, where commits follow each other too closely to be counted in one snapshot.
    private static let attempts = 5
    /// The state of a Polystore file in one snapshot: the newest position of the history, which is its floor if all entries were purged,
    /// and the number of quiet commits.
    private static let ownState = """
        SELECT max(coalesce((SELECT max(position) FROM polystore_history), 0),
                coalesce((SELECT CAST(CAST(value AS TEXT) AS INTEGER) FROM polystore_notes WHERE name = '\(HistoryFloor.noteName)'), 0)),
            (SELECT next FROM polystore_counters WHERE root = '\(SQLiteWriter.quietCounter)')
        """

    /// The evidence of commits of other connections.
    enum Evidence {
        /// The commit counts that every Polystore connection maintains.
        case ledger
        /// The change log that triggers write for the tables of another program; before it is created, the engine's data version.
        case log
        /// The engine's data version.
        case version
    }

    private let connection: SQLiteConnection
    private let evidence: Evidence
    private let log: SQLiteLogHeader?
    /// Whether triggers log the changes of the tables of another program.
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

    /// Creates the watcher of a file.
    static func watcher(_ place: SQLitePlace, _ evidence: Evidence, _ commits: OwnCommits) -> FileStoreWatcher {
        FileStoreWatcher {
            // The engine follows links and keeps its other files beside the file itself.
            let path = FileWatch.realPath(place.path), logs = [path + "-wal", path + "-journal"]
            #if canImport(Darwin)
            // A watch on Apple's systems opens the watched files. Closing the database file would drop the engine's locks on it, and a
            // commit writes to one of the other files anyway.
            return logs
            #else
            return [path] + logs
            #endif
        } begin: { () throws(StorageError) in
            try look(place, evidence, commits)
        }
    }

    /// Determines the current state of a file, and returns a function that polls for changes since then.
    private static func look(
        _ place: SQLitePlace, _ evidence: Evidence, _ commits: OwnCommits
    ) throws(StorageError) -> FileStoreWatcher.Look {
        let connection = try place.reader()
        try connection.execute("PRAGMA cache_size = -64")
        let watch = try SQLiteWatch(connection, evidence, commits)
        // A commit of this instance may be in progress.
        while evidence == .ledger, !watch.ledger.hasBegun {
            _ = try watch.ownChange()
            if !watch.ledger.hasBegun { Threads.pause(seconds: 0.001) }
        }
        // State that cannot be read now, for example while the file is locked, is read by the next poll.
        return { (try? watch.change()) ?? nil }
    }

    private func change() throws(StorageError) -> ChangeSignal? {
        if evidence == .ledger { return try ownChange() }
        let version = try Self.version(connection)
        if version == self.version { return nil }
        self.version = version
        if !hasTriggers { return .unknown }
        // The log lists every change of the tables, of every writer.
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
                // No commit has begun in between, so the snapshot is the one that was counted.
                if before == log.begun { return count }
            }
            return nil
        }
    }

    private func count(commits: Int64?) throws(StorageError) -> CommitCount {
        let version = commits == nil ? try Self.version(connection) : 0
        let statement = try connection.statement(Self.ownState)
        defer { statement.reset() }
        guard try statement.step() else {
            throw StorageError(.corrupted, "the key counters are missing; restore the database from a backup")
        }
        return CommitCount(
            commits: commits, version: version, listed: sqlite3_column_int64(statement.handle, 0),
            quiet: sqlite3_column_int64(statement.handle, 1))
    }

    /// Returns a number that changes when another connection commits: https://sqlite.org/pragma.html#pragma_data_version
    private static func version(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        try connection.integer("PRAGMA data_version") ?? 0
    }

    private static func position(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        try connection.integer("SELECT seq FROM main.sqlite_sequence WHERE name = 'polystore_log'") ?? 0
    }
}
#endif
