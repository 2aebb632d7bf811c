#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A session over the tables of another program. Its history is a log that triggers keep, whoever writes.
class PostgreSQLInPlaceReader: PostgreSQLReader {
    let inPlace: PostgreSQLInPlace

    init(_ core: PostgreSQLCore, _ connection: PostgreSQLConnection, _ inPlace: PostgreSQLInPlace) {
        self.inPlace = inPlace
        super.init(core, connection)
    }

    /// What is below the horizon of running transactions: nothing can appear there any more.
    private static let settled = "l.position < pg_snapshot_xmin(pg_current_snapshot())::text::int8"

    override func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkOpen()
        let after = try core.position(token)
        let text: SQLText = """
            SELECT l.position, coalesce(c.time, l.time), coalesce(c.author, ''), l.source, l.key, l.kind, l.changed
            FROM polystore_log AS l LEFT JOIN polystore_commits AS c ON c.position = l.position
            WHERE l.position IN (SELECT DISTINCT l.position FROM polystore_log AS l
                WHERE l.position > \(bind: .int(after), .int64) AND \(raw: Self.settled) ORDER BY 1 LIMIT \(bind: .int(Int64(limit)), .int64))
            ORDER BY l.position, l.number
            """
        var log = InPlaceLog(
            inPlace.tables, separator: PostgreSQLInPlaceSetup.separator, everything: PostgreSQLInPlaceSetup.everything)
        for row in try PostgreSQLCatalogRows(connection).rows(text, [.int64, .int64, .string, .string, .int64, .string, .string]) {
            log.add(
                position: row[0].number, time: row[1].number, author: row[2].text, source: row[3].text, key: row[4].number,
                kind: row[5].text, changed: row[6].text)
        }
        return log.entries(of: core.storeID)
    }

    override func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        let result = try connection.query("SELECT max(l.position) FROM polystore_log AS l WHERE \(Self.settled)", [])
        return result.integer(0, 0).map { HistoryToken(store: core.storeID, position: $0) }
    }
}
#endif
