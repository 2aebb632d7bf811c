#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A session over one connection: a read session, and the reading part of a write session.
class SQLiteReader: SQLSession, SingleRowReader, PlanExplainer, HistoryReader, KeyCountingReader, SQLReader {
    let core: SQLiteCore
    let connection: SQLiteConnection
    @exclusivity(unchecked) private(set) final var isOpen = true
    @exclusivity(unchecked) private var keyStatement: (entity: EntityIndex, statement: SQLiteStatement)?

    init(_ core: SQLiteCore, _ connection: SQLiteConnection) {
        self.core = core
        self.connection = connection
    }

    deinit { end() }

    @inline(__always)
    final func checkOpen() throws(StorageError) {
        if !isOpen || core.isClosed { throw ended }
        try connection.checkTransaction()
    }

    private var ended: StorageError { StorageError(.storeClosed, "the session or its store was closed") }

    /// Returns the connection to the pool.
    func giveBack() {
        connection.end()
        core.readers.give(connection)
    }

    final func end() {
        guard isOpen else { return }
        isOpen = false
        giveBack()
    }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        try checkOpen()
        if let found = try SQLiteRange(plan, self)?.rows() { return found }
        let select = core.statements.statement(plan)
        let statement = try connection.statement(select.sql, select.bindings)
        if let sorted = try SQLiteSort(plan, self)?.rows(statement) { return sorted }
        return SQLiteCursor(statement, select.layout, self)
    }

    func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try checkOpen()
        let isInKeyOrder = try SQLiteRange(plan, self)?.isShorter() != true
        return try engineLines(core.statements.statement(plan, isOrdered: isInKeyOrder).sql)
    }

    /// Returns the engine's query plan for a statement.
    final func engineLines(_ sql: String) throws(StorageError) -> [String] {
        // The statement is not cached because it runs once.
        let statement = try SQLiteStatement("EXPLAIN QUERY PLAN " + sql, connection)
        var lines: [String] = []
        // https://sqlite.org/eqp.html: the fourth column is the description.
        while try statement.step() { if let text = sqlite3_column_text(statement.handle, 3) { lines.append(String(cString: text)) } }
        return lines
    }

    func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        let lines = try explanation(of: plan), statement = try connection.statement(core.compiler.select(plan).text)
        defer { statement.reset() }
        for (counter, _) in Self.counters { _ = statement.counter(counter, reset: true) }
        var rows = 0
        while try statement.step() { rows += 1 }
        let counted = Self.counters.map { counter, name in "\(statement.counter(counter, reset: false)) \(name)" }
        return lines + ["\(rows) rows found, \(counted.joined(separator: ", "))"]
    }

    /// The counters that a measured plan reports: https://sqlite.org/c3ref/c_stmtstatus_counter.html
    private static let counters = [
        (SQLITE_STMTSTATUS_FULLSCAN_STEP, "steps of full scans"), (SQLITE_STMTSTATUS_SORT, "sorts"),
        (SQLITE_STMTSTATUS_AUTOINDEX, "rows put into automatic indexes"), (SQLITE_STMTSTATUS_VM_STEP, "instructions"),
    ]

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        for key in keys { try row(entity, key: key, into: batch) }
    }

    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        try checkOpen()
        let layout = core.keyLayout(entity)
        let statement = try keyStatement(entity, layout)
        statement.bind(.int(key), at: 1)
        defer { sqlite3_reset(statement.handle) }
        guard try statement.step() else { return }
        try layout.fill(batch, statement)
        // The engine's memory becomes invalid with the next run of the statement.
        batch.keepLastRow(core.tables.schema)
    }

    /// Returns the statement that reads a row by its key. The session keeps it, because finding it by its text takes as long as running it.
    private func keyStatement(_ entity: EntityIndex, _ layout: SQLiteRowLayout) throws(StorageError) -> SQLiteStatement {
        if let last = keyStatement, last.entity == entity { return last.statement }
        let statement = try connection.statement(layout.sql)
        keyStatement = (entity, statement)
        return statement
    }

    /// Returns the engine's answer, or nil where a total is not finite or an intermediate total overflowed.
    func answer(_ query: SQLValueQuery) throws(StorageError) -> [[Value]]? {
        let statement = try connection.statement(query.text)
        defer { statement.reset() }
        var answer: [[Value]] = []
        while true {
            let code = statement.advance()
            if code == SQLITE_DONE { return answer }
            guard code == SQLITE_ROW else {
                // sum() fails when an intermediate total overflows, even if the final one would not. The layer above computes the answer or
                // finds the first error.
                if code & 0xff == SQLITE_ERROR || SQLiteResult.failure(code, "") != nil { return nil }
                throw connection.error(code)
            }
            guard let row = query.row(try statement.values(query.columns)) else { return nil }
            answer.append(row)
        }
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try checkOpen()
        let statement = try connection.statement(core.linkSelect(link, side, keys))
        statement.beginReading()
        defer { statement.reset() }
        var pairs: ContiguousArray<LinkPair> = []
        while try statement.step() {
            pairs.append(
                LinkPair(
                    owner: sqlite3_column_int64(statement.handle, 0), rank: sqlite3_column_int64(statement.handle, 1),
                    member: sqlite3_column_int64(statement.handle, 2)))
            if pairs.count < 1024 { continue }
            try pairs.withUnsafeBufferPointer(body)
            pairs.removeAll(keepingCapacity: true)
        }
        if !pairs.isEmpty { try pairs.withUnsafeBufferPointer(body) }
    }

    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkHistory()
        let entries = try SQLiteHistory(core, connection).entries(after: core.position(token), limit: limit)
        return try HistoryEntry.current(entries, core.metadata, self)
    }

    func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        return core.metadata.history.isOn ? try connection.newestPosition(in: "polystore_history").map(core.token) : nil
    }

    func nextKey(_ root: EntityIndex) throws(StorageError) -> Int64? {
        try checkOpen()
        // A database of another program has no counters.
        if try connection.integer("SELECT 1 FROM main.sqlite_schema WHERE name = 'polystore_counters'") == nil { return nil }
        let name = core.tables.schema.entities[root].name
        return try connection.number("SELECT next FROM main.polystore_counters WHERE root = \(bind: .string(name), .string)") ?? 1
    }

    /// Returns whether a commit is in the store, by its history entry, or nil where the history does not reach back to it.
    func has(_ mark: SQLiteCommitMark) throws(StorageError) -> Bool? { try SQLiteHistory(core, connection).has(mark) }
}
#endif
