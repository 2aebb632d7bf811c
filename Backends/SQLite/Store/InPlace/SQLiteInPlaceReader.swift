#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A session over the tables of another program. Its history is the change log that triggers write row by row, for every writer.
class SQLiteInPlaceReader: SQLiteReader {
    let inPlace: SQLiteInPlace

    init(_ core: SQLiteCore, _ connection: SQLiteConnection, _ inPlace: SQLiteInPlace) {
        self.inPlace = inPlace
        super.init(core, connection)
    }

    override func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkOpen()
        if !inPlace.isWatched { return try InPlaceLog.unwatched(token) }
        guard let start = try connection.historyFloor().start(after: core.position(token)) else { return [] }
        let after = try beginning(start)
        // Rows of one of Polystore's transactions belong together. Changes of other programs have no transaction boundaries in the log.
        let text: SQLText = """
            SELECT coalesce(c.position, l.position), coalesce(c.time, l.time), coalesce(c.author, ''), l.source, l."key", l.kind, l.changed
            FROM polystore_log AS l LEFT JOIN polystore_commits AS c ON c.first <= l.position AND c.position =
                (SELECT min(p.position) FROM polystore_commits AS p WHERE p.position >= l.position)
            WHERE l.position > \(bind: .int(after), .int64) ORDER BY l.position
            """
        let statement = try connection.statement(text)
        defer { statement.reset() }
        var log = InPlaceLog(inPlace.tables, isInOrder: true)
        while try statement.step() {
            let row = try statement.values(InPlaceLog.types)
            if log.isFull(limit, next: row[0].number) { break }
            log.add(row)
        }
        return log.entries(of: core.storeID, core.metadata.history)
    }

    override func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        if !inPlace.isWatched { return nil }
        return try connection.newestPosition(in: "polystore_log").map(core.token)
    }

    override func has(_ mark: SQLiteCommitMark) throws(StorageError) -> Bool? {
        if mark.position <= (try connection.historyFloor().position) { return nil }
        let text: SQLText = "SELECT time, author FROM polystore_commits WHERE position = \(bind: .int(mark.position), .int64)"
        guard let row = try connection.rows(text, [.int64, .string]).first else { return false }
        return mark == SQLiteCommitMark(position: mark.position, time: row[0].number, author: row[1].text, content: [])
    }

    /// Returns a position, or the beginning of the Polystore transaction that contains it. The token of a transaction is its last row, so
    /// none of its changes have been reported yet.
    final func beginning(_ position: Int64) throws(StorageError) -> Int64 {
        let text: SQLText = """
            SELECT first - 1 FROM main.polystore_commits WHERE position > \(bind: .int(position), .int64) ORDER BY position LIMIT 1
            """
        return min(position, try connection.number(text) ?? position)
    }
}
#endif
