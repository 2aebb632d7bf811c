#if SQLite
internal import CSQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The history of a store, as one connection sees it.
struct SQLiteHistory {
    private let connection: SQLiteConnection
    private let storeID: UUID

    init(_ core: SQLiteCore, _ connection: SQLiteConnection) {
        self.connection = connection
        storeID = core.storeID
    }

    private func token(_ position: Int64) -> HistoryToken { HistoryToken(store: storeID, position: position) }

    // MARK: Reading

    /// Where the history begins.
    func floor() throws(StorageError) -> HistoryFloor {
        let statement = try connection.statement("SELECT value FROM polystore_notes WHERE name = '\(HistoryFloor.noteName)'")
        defer { statement.reset() }
        return try HistoryFloor(note: try statement.step() ? Data(SQLiteCells.cell(statement.handle, 0, .blob).bytes) : nil)
    }

    /// Entries in the terms in which they were written.
    func entries(after position: Int64?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        guard let start = try floor().start(after: position) else { return [] }
        let statement = try connection.statement(
            "SELECT position, time, author, changes FROM polystore_history WHERE position > ?1 ORDER BY position LIMIT ?2")
        defer { statement.reset() }
        statement.bind(.int(start), at: 1)
        statement.bind(.int(Int64(limit)), at: 2)
        var entries: [HistoryEntry] = []
        while try statement.step() {
            let values = try statement.values([.int64, .int64, .string])
            guard case .int(let position) = values[0], case .int(let time) = values[1], case .string(let author) = values[2],
                let changes = HistoryRecorder.decode(SQLiteCells.cell(statement.handle, 3, .blob).bytes)
            else { throw .damagedHistory }
            entries.append(HistoryEntry(token: token(position), time: time, author: author, changes: changes))
        }
        return entries
    }

    /// The token of the newest entry, or of where the history begins.
    func newest() throws(StorageError) -> HistoryToken? {
        let floor = try floor(), position = try last(floor)
        return position > 0 && !floor.isUnrecorded ? token(position) : nil
    }

    /// The last position that was ever given: where the newest entry was purged, the floor is there.
    private func last(_ floor: HistoryFloor) throws(StorageError) -> Int64 {
        max(try connection.integer("SELECT max(position) FROM polystore_history") ?? 0, floor.position)
    }

    /// Whether a commit is there; nil where its entry would have been purged.
    func has(_ mark: SQLiteCommitMark) throws(StorageError) -> Bool? {
        if mark.position <= (try floor().position) { return nil }
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

    /// Forgets what is at or below a position.
    func purge(through position: Int64) throws(StorageError) {
        let floor = try floor(), position = min(position, try last(floor))
        if position <= floor.position { return }
        try begin(after: HistoryFloor(position))
    }

    private func begin(after floor: HistoryFloor) throws(StorageError) {
        try run("DELETE FROM polystore_history WHERE position <= \(bind: .int(floor.position), .int64)")
        try keep(floor)
    }

    private func keep(_ floor: HistoryFloor) throws(StorageError) {
        let name: SQLText = "\(bind: .string(HistoryFloor.noteName), .string)"
        try run("INSERT OR REPLACE INTO polystore_notes VALUES(\(name), \(bind: .data(floor.note), .data))")
    }

    private func run(_ text: SQLText) throws(StorageError) {
        let code = try connection.statement(text).run()
        if code != SQLITE_DONE { throw connection.error(code) }
    }

    /// Notes that there are changes that the history does not have. A position is left out, so that the newest token is below the floor too.
    ///
    /// - Returns: Whether the position rose; it does so once.
    func leaveOut() throws(StorageError) -> Bool {
        let floor = try floor()
        if floor.isUnrecorded { return false }
        try keep(HistoryFloor(try next(after: last(floor)), isUnrecorded: true))
        return true
    }

    /// Writes an entry; its position.
    ///
    /// - Parameter isFirst: Whether it is the first of a program, which begins the history anew where changes were left out.
    func add(_ time: Int64, _ author: String, _ changes: [UInt8], isFirst: Bool) throws(StorageError) -> HistoryToken {
        // The engine gives the position behind the newest entry, which is behind the floor, unless there is none.
        var position = try insert(time, author, changes, at: isFirst ? try next(after: beginning()) : nil)
        if position == 1 {
            let floor = try floor().position
            if floor > 0 {
                position = try next(after: floor)
                try run("UPDATE polystore_history SET position = \(bind: .int(position), .int64) WHERE position = 1")
            }
        }
        // Behind the greatest number the engine would give any that is free.
        _ = try next(after: position)
        return token(position)
    }

    private func next(after position: Int64) throws(StorageError) -> Int64 {
        if position >= .max - 1 { throw StorageError(.corrupted, "the history has a position that leaves none for new entries") }
        return position + 1
    }

    /// The last position that was ever given; what was recorded before changes were left out is forgotten.
    private func beginning() throws(StorageError) -> Int64 {
        let floor = try floor(), last = try last(floor)
        if floor.isUnrecorded { try begin(after: HistoryFloor(last)) }
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

extension SQLiteReader {
    final func checkHistory() throws(StorageError) {
        try checkOpen()
        if !core.metadata.history.isOn { throw .keepsNoHistory }
    }
}
#endif
