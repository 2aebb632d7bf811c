#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The history of a store on a server, up to the position at which it is final.
///
/// The position of an entry is the ID of its transaction, plus the offset of the cluster (`PostgreSQLSetup.historyOffset`). IDs are
/// assigned when transactions first write, not when they commit, so an entry with a lower ID can appear after one with a higher ID. Below
/// the *horizon* no entry can appear: no transaction that may still write an entry has a lower ID.
///
/// The horizon H of a session with the snapshot S is the lowest ID in progress in S that may belong to a writer of this store, or `xmax` of
/// S if there is none. An ID in progress is *foreign* if, after S was taken, a process holds the lock of the ID (`transactionid`,
/// exclusive) and not the advisory lock of the store's writers, or if its transaction has ended without an entry. Then:
///
/// 1. A writer holds the advisory lock before BEGIN and until after COMMIT or ROLLBACK (`PostgreSQLStore.lane`), and `pg_locks` shows both
///    kinds of lock at one moment. So the ID of another holder belongs to no writer, and its transaction writes no entry.
/// 2. An ID below H is therefore finished in S, or foreign. S sees everything that finished transactions have committed. So everything that
///    will ever be below H is seen in S, and nothing appears below H later: the history up to H has no gap and gets none.
/// 3. An ID in progress in S without a holder has ended since S was taken, or has just been assigned and is not locked yet (a server
///    records the ID first). Another connection, whose snapshot is newer, looks for it again: it has ended with an entry, which S does not
///    see, or without one, or it has a holder by now. If there is no such connection, the ID counts as a writer's until the next session.
///
/// S is the snapshot of the session's first statement; `pg_locks` is read later, which only makes more IDs count as writers'. So one
/// statement suffices, also under REPEATABLE READ. A session queries the horizon once and keeps the answer. If nothing is in progress,
/// `pg_locks` is not read at all. A standby lists no IDs in progress, so H is `xmin` of S there.
///
/// A prepared transaction holds its lock without a process as long as it is prepared. It is foreign only if the server's list of prepared
/// transactions, which is read after `pg_locks`, contains it under a name that this store does not assign. One that is not in the list has
/// ended in between, and is looked for like an ID without a holder.
struct PostgreSQLHistory {
    private let core: PostgreSQLCore
    private let connection: PostgreSQLConnection
    private let horizon: Int64

    /// Creates the history of a session.
    ///
    /// - Parameter horizon: The answer to the session's first query of the horizon.
    init(_ core: PostgreSQLCore, _ connection: PostgreSQLConnection, horizon: Int64) {
        self.core = core
        self.connection = connection
        self.horizon = horizon
    }

    /// The number of looks at IDs that are not locked yet, which takes a server some microseconds.
    private static let mostLooks = 5

    /// The horizon of a snapshot if no ID in progress belongs to a writer. A snapshot that was taken on a standby has no list of IDs in
    /// progress, but the lowest of them; on other servers its `xmin` is less than `xmax` without a list only because of its own ID.
    static let greatestHorizon = """
        CASE WHEN pg_current_xact_id_if_assigned() IS NULL AND NOT EXISTS (SELECT FROM pg_snapshot_xip(pg_current_snapshot()))
            THEN pg_snapshot_xmin(pg_current_snapshot()) ELSE pg_snapshot_xmax(pg_current_snapshot()) END
        """

    /// Returns the horizon of a session that has not queried it yet.
    static func horizon(_ core: PostgreSQLCore, _ connection: PostgreSQLConnection) throws(StorageError) -> Int64 {
        let snapshot = "pg_current_snapshot()"
        let found = try connection.query(
            """
            \(holders(core))
            SELECT (\(greatestHorizon))::text::int8, 1::int8
            UNION ALL SELECT running::text::int8, (holder.is_foreign IS NOT NULL)::int::int8
            FROM pg_snapshot_xip(\(snapshot)) AS running LEFT JOIN holder ON holder.id = running::xid
            WHERE pg_snapshot_xmin(\(snapshot)) <> pg_snapshot_xmax(\(snapshot)) AND holder.is_foreign IS NOT TRUE
            """, [])
        var (writers, unknown) = ids(found)
        let known = writers.min() ?? 0
        unknown.removeAll { $0 > known }
        if !unknown.isEmpty { writers += (try? withEntries(unknown, core, connection.interrupt?.limit)) ?? unknown }
        return (writers.min() ?? 0) + core.historyOffset
    }

    /// Returns those of IDs without a holder whose transactions have ended with an entry, or may still write one.
    ///
    /// - Parameter limit: The limit of the session.
    private static func withEntries(
        _ ids: [Int64], _ core: PostgreSQLCore, _ limit: WorkLimit?
    ) throws(StorageError) -> [Int64] {
        // The server does not know that the session waits for this connection, so it would not notice a deadlock of both.
        let connection = try core.helpers.begin(limit, timeout: 0) { connection throws(StorageError) in
            try connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL lock_timeout = 100")
            return connection
        }
        defer {
            core.helpers.give(connection) { connection throws(StorageError) in
                try connection.execute("ROLLBACK")
                return true
            }
        }
        var writers: [Int64] = [], unknown = ids
        for _ in 0..<mostLooks where !unknown.isEmpty {
            let found = try connection.query(
                """
                \(holders(core)), running AS (
                    SELECT id, pg_visible_in_snapshot(id::text::xid8, pg_current_snapshot()) AS is_over FROM unnest($1::int8[]) AS id)
                SELECT running.id, (is_over OR holder.is_foreign IS NOT NULL)::int::int8
                FROM running LEFT JOIN holder ON NOT is_over AND holder.id = running.id::text::xid8::xid
                WHERE CASE WHEN is_over THEN EXISTS (SELECT FROM polystore_history WHERE position = running.id + \(core.historyOffset))
                    ELSE holder.is_foreign IS NOT TRUE END
                """, [PostgreSQLParameter(keys: unknown)])
            let (more, rest) = Self.ids(found)
            writers += more
            unknown = rest
        }
        // An entry that was purged meanwhile is no longer in the table.
        let floor = try connection.historyFloor()
        return writers + unknown + ids.filter { floor.isUnrecorded || $0 + core.historyOffset <= floor.position }
    }

    /// Returns the IDs of rows, and those among them for which nothing is known yet.
    private static func ids(_ found: PostgreSQLResult) -> (known: [Int64], unknown: [Int64]) {
        var known: [Int64] = [], unknown: [Int64] = []
        for row in 0..<found.count {
            guard let id = found.integer(row, 0) else { continue }
            if found.integer(row, 1) == 1 { known.append(id) } else { unknown.append(id) }
        }
        return (known, unknown)
    }

    /// The common table of the IDs that are locked, and whether the holder of each is foreign; null for a prepared transaction that is no
    /// longer in the list of them.
    private static func holders(_ core: PostgreSQLCore) -> String {
        // `pg_locks` shows a 64-bit key as its two halves (https://www.postgresql.org/docs/current/view-pg-locks.html).
        let high = UInt32(truncatingIfNeeded: core.lock >> 32), low = UInt32(truncatingIfNeeded: core.lock)
        return """
            WITH held AS MATERIALIZED (SELECT locktype, pid, transactionid FROM pg_locks WHERE granted AND (
                locktype = 'transactionid' AND mode = 'ExclusiveLock' OR locktype = 'advisory' AND objsubid = 1
                AND classid = \(high) AND objid = \(low)
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))),
            holder AS MATERIALIZED (SELECT transactionid AS id, CASE WHEN pid IS NULL THEN (
                    SELECT NOT starts_with(kept.gid, \(PostgreSQLPreparedName.start(of: core.storeID)))
                    FROM pg_prepared_xacts AS kept WHERE kept.transaction = held.transactionid)
                ELSE NOT EXISTS (SELECT FROM held AS writer WHERE writer.locktype = 'advisory' AND writer.pid = held.pid) END AS is_foreign
                FROM held WHERE locktype = 'transactionid')
            """
    }

    /// Returns the position of the transaction's own entry.
    static func position(_ core: PostgreSQLCore) -> String { "(pg_current_xact_id()::text::int8 + \(core.historyOffset)::int8)" }

    private static let name = "'\(HistoryFloor.noteName)'"
    /// The note of a store with unrecorded changes: the IDs of later transactions are greater than those of all tokens.
    private static let unrecorded = "convert_to('\(String(decoding: HistoryFloor(0, isUnrecorded: true).note, as: UTF8.self))', 'UTF8')"
    private static let floor = PostgreSQLStep("SELECT value FROM polystore_notes WHERE name = \(name)", [])

    private static func floor(_ result: PostgreSQLResult) throws(StorageError) -> HistoryFloor {
        try HistoryFloor(note: result.data(0, 0))
    }

    /// Returns entries below the horizon in terms of the model version in which they were written, and the entries of sessions of a newer
    /// live version in its own terms.
    func entries(after position: Int64?, limit: Int) throws(StorageError) -> ([HistoryEntry], newest: [Int: HistoryChanges]) {
        // Up to the position of the migration step, entries are in terms of earlier versions, even if they have a second form.
        let own = core.rolling.map { ", CASE WHEN position > \($0.since) THEN changes_next END" } ?? ""
        let results = try connection.pipeline([
            Self.floor,
            PostgreSQLStep(
                "SELECT position, time, author, changes\(own) FROM polystore_history WHERE position > $1::int8 AND position < "
                    + "\(horizon) ORDER BY position LIMIT $2::int8",
                [PostgreSQLParameter(position ?? 0), PostgreSQLParameter(Int64(limit))]),
        ])
        // Entries below the floor no longer exist.
        guard try Self.floor(results[0]).start(after: position) != nil else { return ([], [:]) }
        var entries: [HistoryEntry] = [], newest: [Int: HistoryChanges] = [:]
        for row in try results[1].rows([.int64, .int64, .string, .data] + (core.rolling == nil ? [] : [.data])) {
            if core.rolling != nil, case .data(let next) = row[4] { newest[entries.count] = try PostgreSQLCore.changes(next) }
            entries.append(try core.entry(row))
        }
        return (entries, newest)
    }

    /// Returns the token of the newest entry below the horizon, or of the floor.
    func newest() throws(StorageError) -> HistoryToken? {
        let results = try connection.pipeline([
            Self.floor, PostgreSQLStep("SELECT max(position) FROM polystore_history WHERE position < \(horizon)", []),
        ])
        let floor = try Self.floor(results[0]), position = max(results[1].integer(0, 0) ?? 0, floor.position)
        return position > 0 && !floor.isUnrecorded ? core.token(position) : nil
    }

    /// Returns the number and age of the entries at or above the horizon.
    func lag() throws(StorageError) -> HistoryLag {
        let result = try connection.query(
            "SELECT count(*), min(time) FROM polystore_history WHERE position >= \(horizon)", [])
        return HistoryLag(entries: Int(result.integer(0, 0) ?? 0), oldest: result.integer(0, 1))
    }

    func unsettledTokens() throws(StorageError) -> [HistoryToken] {
        let result = try connection.query("SELECT position FROM polystore_history WHERE position >= \(horizon)", [])
        return (0..<result.count).compactMap { result.integer($0, 0).map(core.token) }
    }

    func isUnsettled() throws(StorageError) -> Bool {
        let result = try connection.query(
            "SELECT 1::int8 WHERE EXISTS (SELECT 1 FROM polystore_history WHERE position >= \(horizon))", [])
        return result.count > 0
    }

    // MARK: Writing

    /// Removes entries at or below a position and below the horizon. Entries that may still appear have not been read by any session.
    func purge(through position: Int64) throws(StorageError) {
        try connection.purgeHistory(["polystore_history"], through: min(position, horizon - 1))
    }

    /// Returns the statement that records unrecorded changes in the floor. If the floor is already marked, it changes and locks nothing.
    static func leavingOut(isKnown: Bool) -> String {
        isKnown
            ? "UPDATE polystore_notes SET value = \(unrecorded) WHERE name = \(name) AND value <> \(unrecorded)"
            : "INSERT INTO polystore_notes VALUES(\(name), \(unrecorded)) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    }

    /// Returns the statements that begin the history again after unrecorded changes, and remove the entries before them.
    static func resuming(_ core: PostgreSQLCore) -> [String] {
        [
            "DELETE FROM polystore_history WHERE EXISTS (SELECT 1 FROM polystore_notes WHERE name = \(name) AND value = \(unrecorded))",
            "UPDATE polystore_notes SET value = convert_to((\(position(core)) - 1)::text, 'UTF8') WHERE name = \(name) "
                + "AND value = \(unrecorded)",
        ]
    }
}
#endif
