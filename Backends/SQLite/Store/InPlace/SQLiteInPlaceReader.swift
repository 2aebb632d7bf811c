#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A session over the tables of another program. Its history is a log that the engine keeps, row by row, whoever writes.
class SQLiteInPlaceReader: SQLiteReader {
    let inPlace: SQLiteInPlace

    init(_ core: SQLiteCore, _ connection: SQLiteConnection, _ inPlace: SQLiteInPlace) {
        self.inPlace = inPlace
        super.init(core, connection)
    }

    override func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkOpen()
        guard let start = try floor().start(after: core.position(token)) else { return [] }
        let after = try beginning(start)
        // Rows of one of our transactions belong together; what other programs write has no such bounds.
        let text: SQLText = """
            SELECT coalesce(c.position, l.position), coalesce(c.time, l.time), coalesce(c.author, ''), l.source, l."key", l.kind, l.changed
            FROM polystore_log AS l LEFT JOIN polystore_commits AS c ON c.first <= l.position AND c.position =
                (SELECT min(p.position) FROM polystore_commits AS p WHERE p.position >= l.position)
            WHERE l.position > \(bind: .int(after), .int64) ORDER BY l.position
            """
        let statement = try connection.statement(text)
        defer { statement.reset() }
        var log = InPlaceLog(inPlace.tables, separator: SQLiteInPlaceSetup.separator, everything: SQLiteInPlaceSetup.everything)
        while try statement.step() {
            let row = try statement.values([.int64, .int64, .string, .string, .int64, .string, .string])
            if log.isFull(limit, next: row[0].number) { break }
            log.add(
                position: row[0].number, time: row[1].number, author: row[2].text, source: row[3].text, key: row[4].number,
                kind: row[5].text, changed: row[6].text)
        }
        return log.entries(of: core.storeID, core.metadata.history)
    }

    override func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        let position = max(try connection.integer("SELECT max(position) FROM polystore_log") ?? 0, try floor().position)
        return position > 0 ? HistoryToken(store: core.storeID, position: position) : nil
    }

    override func has(_ mark: SQLiteCommitMark) throws(StorageError) -> Bool? {
        if mark.position <= (try floor().position) { return nil }
        let text: SQLText = "SELECT time, author FROM polystore_commits WHERE position = \(bind: .int(mark.position), .int64)"
        guard let row = try SQLiteCatalogRows(connection).rows(text, [.int64, .string]).first else { return false }
        return mark == SQLiteCommitMark(position: mark.position, time: row[0].number, author: row[1].text, content: [])
    }

    /// A position, or where the transaction of ours begins that it lies in: its token is its last row, so all of it is still to be told.
    final func beginning(_ position: Int64) throws(StorageError) -> Int64 {
        let text: SQLText = """
            SELECT first - 1 FROM main.polystore_commits WHERE position > \(bind: .int(position), .int64) ORDER BY position LIMIT 1
            """
        return min(position, try SQLiteCatalogRows(connection).rows(text, [.int64]).first?.first?.number ?? position)
    }

    /// Where the history begins.
    final func floor() throws(StorageError) -> HistoryFloor { try HistoryFloor(note: try note(HistoryFloor.noteName)) }
}
#endif
