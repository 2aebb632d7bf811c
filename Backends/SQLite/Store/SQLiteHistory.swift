#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The history of a store, accessed through one connection.
struct SQLiteHistory {
    private let core: SQLiteCore
    private let connection: SQLiteConnection

    init(_ core: SQLiteCore, _ connection: SQLiteConnection) {
        self.core = core
        self.connection = connection
    }

    // MARK: Reading

    /// Returns entries in terms of the model version in which they were written.
    func entries(after position: Int64?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        guard let start = try connection.historyFloor().start(after: position) else { return [] }
        let text: SQLText = """
            SELECT position, time, author, changes FROM polystore_history WHERE position > \(bind: .int(start), .int64) \
            ORDER BY position LIMIT \(bind: .int(Int64(limit)), .int64)
            """
        return try connection.rows(text, [.int64, .int64, .string, .data]).map { row throws(StorageError) in try core.entry(row) }
    }

    /// Returns the highest position that an entry ever had. If the newest entry was purged, it is the position of the floor.
    private func last(_ floor: HistoryFloor) throws(StorageError) -> Int64 {
        max(try connection.number("SELECT max(position) FROM polystore_history") ?? 0, floor.position)
    }

    /// Returns whether a commit is in the history, or nil where its entry would have been purged.
    func has(_ mark: SQLiteCommitMark) throws(StorageError) -> Bool? {
        if mark.position <= (try connection.historyFloor().position) { return nil }
        let statement = try connection.statement("SELECT time, author, changes FROM polystore_history WHERE position = ?1")
        defer { statement.reset() }
        statement.bind(.int(mark.position), at: 1)
        guard try statement.step(), case let values = try statement.values([.int64, .string]), case .int(let time) = values[0],
            case .string(let author) = values[1]
        else { return false }
        let changes = SQLiteCells.cell(statement.handle, 2, .blob).bytes
        return mark == SQLiteCommitMark(position: mark.position, time: time, author: author, content: changes)
    }

    // MARK: Writing

    /// Records in the floor that there are changes without history entries. The floor skips a position, so that the newest token is below
    /// it too.
    ///
    /// - Returns: Whether the position has risen, which happens only for the first such transaction.
    func leaveOut() throws(StorageError) -> Bool {
        let floor = try connection.historyFloor()
        if floor.isUnrecorded { return false }
        try connection.setHistoryFloor(HistoryFloor(try next(after: last(floor)), isUnrecorded: true))
        return true
    }

    /// Writes an entry and returns its token.
    ///
    /// - Parameter isFirst: Whether this is the first entry of a process, which begins the history again if changes went unrecorded.
    func add(_ time: Int64, _ author: String, _ changes: [UInt8], isFirst: Bool) throws(StorageError) -> HistoryToken {
        // The engine assigns the position after the newest entry, which is above the floor. Without any entry it assigns 1.
        var position = try insert(time, author, changes, at: isFirst ? try next(after: beginning()) : nil)
        if position == 1 {
            let floor = try connection.historyFloor().position
            if floor > 0 {
                position = try next(after: floor)
                try connection.run("UPDATE polystore_history SET position = \(bind: .int(position), .int64) WHERE position = 1")
            }
        }
        // After the greatest number the engine would assign any free one.
        _ = try next(after: position)
        return core.token(position)
    }

    private func next(after position: Int64) throws(StorageError) -> Int64 {
        if position >= .max - 1 {
            throw StorageError(
                .corrupted, "the last position of the history leaves no positions for new entries; transfer the data to a new store")
        }
        return position + 1
    }

    /// Returns the highest position that an entry ever had. Removes the entries before unrecorded changes, if there are any.
    private func beginning() throws(StorageError) -> Int64 {
        let floor = try connection.historyFloor(), last = try last(floor)
        if floor.isUnrecorded { try connection.beginHistory(["polystore_history"], after: last) }
        return last
    }

    private func insert(_ time: Int64, _ author: String, _ changes: [UInt8], at position: Int64?) throws(StorageError) -> Int64 {
        let statement = try connection.statement("INSERT INTO polystore_history(position, time, author, changes) VALUES(?1, ?2, ?3, ?4)")
        let texts = RowBatch(capacity: 1)
        statement.bind(position.map(Cell.int) ?? .null, at: 1)
        statement.bind(.int(time), at: 2)
        statement.bind(texts.cell(for: .string(author)), at: 3)
        let code = changes.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { statement.bind(.blob(start, bytes.count), at: 4) }
            return statement.run()
        }
        if code != SQLITE_DONE { throw connection.error(code) }
        return sqlite3_last_insert_rowid(connection.handle)
    }
}
#endif
