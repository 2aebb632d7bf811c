#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A session over the tables of another program. Its history is the change log that triggers write, for every writer.
class PostgreSQLInPlaceReader: PostgreSQLReader {
    let inPlace: PostgreSQLInPlace

    init(
        _ core: PostgreSQLCore, _ connection: PostgreSQLConnection, _ inPlace: PostgreSQLInPlace, of pool: PostgreSQLPool? = nil
    ) {
        self.inPlace = inPlace
        super.init(core, connection, of: pool)
    }

    /// The condition on log rows below the horizon of running transactions, where no further rows can appear.
    private var settled: String { "l.position < \(horizon)" }

    /// The lowest transaction ID in progress that may belong to a writer to this database, plus the offset. Any program may be a writer,
    /// except one that is connected to another database. As in `PostgreSQLHistory`, an ID in progress without a holder counts as a
    /// writer's.
    private var horizon: String {
        let snapshot = "pg_current_snapshot()"
        return """
            ((CASE WHEN pg_snapshot_xmin(\(snapshot)) = pg_snapshot_xmax(\(snapshot)) THEN pg_snapshot_xmax(\(snapshot))::text::int8 ELSE (
                SELECT COALESCE(min(running::text::int8), (\(PostgreSQLHistory.greatestHorizon))::text::int8)
                FROM pg_snapshot_xip(\(snapshot)) AS running WHERE NOT EXISTS (
                    SELECT FROM pg_locks AS held LEFT JOIN pg_stat_activity AS holder ON holder.pid = held.pid
                    LEFT JOIN pg_prepared_xacts AS kept ON held.pid IS NULL AND kept.transaction = held.transactionid
                    WHERE held.locktype = 'transactionid' AND held.mode = 'ExclusiveLock' AND held.granted
                        AND held.transactionid = running::xid AND COALESCE(holder.datname, kept.database) <> current_database())) END)
                + \(core.historyOffset)::int8)
            """
    }

    override func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkOpen()
        if !inPlace.isWatched { return try InPlaceLog.unwatched(token) }
        guard let after = try connection.historyFloor().start(after: core.position(token)) else { return [] }
        let text: SQLText = """
            SELECT l.position, coalesce(c.time, l.time), coalesce(c.author, ''), l.source, l.key, l.kind, l.changed
            FROM polystore_log AS l LEFT JOIN polystore_commits AS c ON c.position = l.position
            WHERE l.position IN (SELECT DISTINCT l.position FROM polystore_log AS l
                WHERE l.position > \(bind: .int(after), .int64) AND \(raw: settled) ORDER BY 1 LIMIT \(bind: .int(Int64(limit)), .int64))
            ORDER BY l.position, l.number
            """
        var log = InPlaceLog(inPlace.tables, isInOrder: false)
        for row in try connection.rows(text, InPlaceLog.types) { log.add(row) }
        return log.entries(of: core.storeID, core.metadata.history)
    }

    override func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        if !inPlace.isWatched { return nil }
        return try connection.newestPosition(in: "polystore_log AS l WHERE \(settled)").map(core.token)
    }

    override func historyLag() throws(StorageError) -> HistoryLag {
        try checkOpen()
        let text = "SELECT count(DISTINCT l.position), min(l.time) FROM polystore_log AS l WHERE NOT (\(settled))"
        let result = try connection.query(text, [])
        return HistoryLag(entries: Int(result.integer(0, 0) ?? 0), oldest: result.integer(0, 1))
    }

    override func hasUnsettledHistory() throws(StorageError) -> Bool { try historyLag().entries > 0 }
    /// Returns no tokens, because these tables cannot be watched.
    override func unsettledTokens() throws(StorageError) -> [HistoryToken] { [] }

    override func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkOpen()
        let newest = try connection.number("SELECT \(raw: horizon) - 1") ?? 0
        try connection.purgeHistory(["polystore_log", "polystore_commits"], through: min(core.position(token) ?? 0, newest))
    }
}
#endif
