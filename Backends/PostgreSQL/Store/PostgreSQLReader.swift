#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A session over one connection: a read session, and the reading part of a write session.
class PostgreSQLReader: SQLSession, PlanExplainer, UnsettledHistoryReader, KeyCountingReader, SQLReader {
    let core: PostgreSQLCore
    let connection: PostgreSQLConnection
    private let pool: PostgreSQLPool
    private(set) var isOpen = true
    /// Whether cursors send their next step ahead. A transaction that writes must not fail because of rows of a step that it does not read.
    var sendsAhead: Bool { true }
    /// Whether queries of the program may lock rows.
    var locksRows: Bool { false }
    /// Whether no other transaction may change a note that the session has read.
    var locksNotes: Bool { false }
    private var cursors = 0
    private let scratch = RowBatch(capacity: 1)
    /// The horizon of the session's history, once it was queried.
    private var horizon: Int64?

    /// Creates a session on a connection of a pool, by default that of the readers.
    init(_ core: PostgreSQLCore, _ connection: PostgreSQLConnection, of pool: PostgreSQLPool? = nil) {
        self.core = core
        self.connection = connection
        self.pool = pool ?? core.readers
    }

    deinit { end() }

    func checkOpen() throws(StorageError) {
        if !isOpen || core.isClosed { throw StorageError(.storeClosed, "the session or its store was closed") }
    }

    /// Returns the connection to the pool.
    func giveBack() {
        pool.give(connection) { connection throws(StorageError) in
            try connection.execute("ROLLBACK")
            return true
        }
    }

    final func end() {
        guard isOpen else { return }
        isOpen = false
        giveBack()
    }

    /// Prepares a rollback to a savepoint.
    func willRollBack() { connection.beginRollback() }

    /// Commits a write transaction and ends the session, even if the outcome is unknown.
    final func commit(_ lane: PostgreSQLLane, _ transaction: Int64?, time: Int64? = nil) throws(StorageError) {
        do throws(StorageError) { try lane.commit(transaction, time: time) } catch {
            if error.code == .commitOutcomeUnknown { isOpen = false }
            throw error
        }
        isOpen = false
    }

    func note(_ name: String) throws(StorageError) -> Data? {
        try checkOpen()
        if locksNotes {
            // The next statement sees what the transaction has committed that this one has waited for.
            _ = try connection.number("SELECT 1::int8 FROM polystore_notes WHERE name = \(bind: .string(name), .string) FOR UPDATE")
        }
        return try connection.note(name)
    }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        try checkOpen()
        let select = core.statements.statement(plan), parameters = select.bindings.map(PostgreSQLParameter.init)
        let layout = select.layout
        if let limit = plan.limit, limit <= layout.size.rows {
            let isByRow = layout.mayBeLong && limit > 1
            let answer = try connection.begin(PostgreSQLStep(select.sql, parameters), rowByRow: isByRow)
            return PostgreSQLCursor(answer, limit: limit, layout, self, isByRow)
        }
        let name = nextCursor(), declare = "DECLARE \(name) BINARY NO SCROLL CURSOR FOR \(select.sql)"
        var isByRow = false
        if layout.mayBeLong {
            let results = try connection.pipeline([PostgreSQLStep(declare, parameters), layout.longRows])
            if results[1].count > 0 { isByRow = try results[1].cell(0, 0, scratch).int != 0 } else { isByRow = true }
        } else {
            _ = try connection.query(declare, parameters)
        }
        return PostgreSQLCursor(name, layout, self, isByRow)
    }

    func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try explanation("EXPLAIN \(core.compiler.select(plan).text)")
    }

    func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try explanation("EXPLAIN (ANALYZE, BUFFERS) \(core.compiler.select(plan).text)")
    }

    private func explanation(_ text: SQLText) throws(StorageError) -> [String] {
        try checkOpen()
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try checkOpen()
        if keys.isEmpty { return }
        let layout = core.keyLayout(entity, isOne: keys.count == 1)
        if keys.count == 1 {
            let result = try connection.query(layout.sql, [PostgreSQLParameter(keys[0])])
            if result.count == 0 { return }
            try layout.fill(batch, result, 0)
            batch.keepLastRow(core.tables.schema)
            return
        }
        let result = try connection.query(layout.sql, [PostgreSQLParameter(keys: Array(Set(keys)).sorted())])
        var positions: [Int64: Int] = [:]
        for row in 0..<result.count { positions[try layout.key(result, row, scratch)] = row }
        for key in keys {
            guard let row = positions[key] else { continue }
            try layout.fill(batch, result, row)
            batch.keepLastRow(core.tables.schema)
        }
    }

    func answer(_ query: SQLValueQuery) throws(StorageError) -> [[Value]]? {
        let result = try connection.query(query.text)
        var answer: [[Value]] = []
        for row in 0..<result.count {
            var columns: [Value] = []
            for (column, type) in query.columns.enumerated() {
                // A total exceeds its type, or an attribute cannot have the value: the caller reads the rows to determine which.
                guard let value = try result.value(row, column, as: type, scratch) else { return nil }
                columns.append(value)
            }
            guard let values = query.row(columns) else { return nil }
            // A total of integers that exceeds Int64 is left to the accumulator, which handles overflow.
            for (output, value) in zip(query.outputs, values) {
                if case .total(_, _, let type) = output, type.isInteger, case .decimal = value { return nil }
                if case .mean(_, _, let type) = output, type.isInteger, case .decimal = value { return nil }
            }
            answer.append(values)
        }
        return answer
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try checkOpen()
        let column = side == .owner ? "\"owner\"" : "\"member\"", other = side == .owner ? "\"member\"" : "\"owner\""
        var sql = "SELECT \"owner\", \"rank\", \"member\" FROM \(SQLText.quoted(core.tables.table(link: link)))"
        if keys != nil { sql += " WHERE \(column) = ANY($1::int8[])" }
        sql += " ORDER BY \(column), \"rank\", \(other)"
        if let keys { return try give(try connection.query(sql, [PostgreSQLParameter(keys: keys)]), body) }
        let name = nextCursor()
        try connection.execute("DECLARE \(name) BINARY NO SCROLL CURSOR FOR \(sql)")
        while true {
            let result = try connection.query("FETCH \(Self.linksAtOnce) FROM \(name)", [])
            try give(result, body)
            if result.count < Self.linksAtOnce { break }
        }
        try connection.execute("CLOSE \(name)")
    }

    private static let linksAtOnce = 16_384

    private func give(
        _ result: PostgreSQLResult, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        var pairs = ContiguousArray<LinkPair>()
        for row in 0..<result.count {
            pairs.append(
                LinkPair(
                    owner: try result.cell(row, 0, scratch).int, rank: try result.cell(row, 1, scratch).int,
                    member: try result.cell(row, 2, scratch).int))
        }
        if !pairs.isEmpty { try pairs.withUnsafeBufferPointer(body) }
    }

    private func nextCursor() -> String {
        cursors += 1
        return "polystore_\(cursors)"
    }

    private func pastHistory() throws(StorageError) -> PostgreSQLHistory {
        let known: Int64
        if let horizon { known = horizon } else { known = try PostgreSQLHistory.horizon(core, connection) }
        horizon = known
        return PostgreSQLHistory(core, connection, horizon: known)
    }

    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkHistory()
        let found = try pastHistory().entries(after: core.position(token), limit: limit)
        var entries = try HistoryEntry.current(found.0, core.metadata, self)
        // An entry of a newer live version has a form in its own terms beside that of the older version.
        for (row, changes) in found.newest {
            try changes.check(core.metadata.schema)
            let entry = entries[row]
            entries[row] = HistoryEntry(token: entry.token, time: entry.time, author: entry.author, changes: changes)
        }
        return entries
    }

    func hasUnsettledHistory() throws(StorageError) -> Bool {
        try checkOpen()
        return core.metadata.history.isOn ? try pastHistory().isUnsettled() : false
    }

    func unsettledTokens() throws(StorageError) -> [HistoryToken] {
        try checkOpen()
        return core.metadata.history.isOn ? try pastHistory().unsettledTokens() : []
    }

    func historyLag() throws(StorageError) -> HistoryLag {
        try checkOpen()
        return core.metadata.history.isOn ? try pastHistory().lag() : HistoryLag()
    }

    func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkHistory()
        try pastHistory().purge(through: core.position(token) ?? 0)
    }

    func currentToken() throws(StorageError) -> HistoryToken? {
        try checkOpen()
        return core.metadata.history.isOn ? try pastHistory().newest() : nil
    }

    func nextKey(_ root: EntityIndex) throws(StorageError) -> Int64? {
        try checkOpen()
        let sequence = core.sequence(root)
        // A database of another program has no counters.
        guard try connection.number("SELECT to_regclass(\(bind: .string(sequence), .string))::oid::int8") != nil else { return nil }
        // Keys of the last block may have been given.
        let next: SQLText = """
            SELECT CASE WHEN is_called THEN last_value + \(raw: "\(PostgreSQLSetup.keyBlock)") ELSE last_value END FROM \(raw: sequence)
            """
        return try connection.number(next)
    }
}
#endif
