#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// An inserter of rows that adds fifty with each statement if there are enough, which takes three quarters of the time of single rows.
///
/// Statements of several rows are `INSERT OR FAIL`: a conflict leaves the rows before it, and the session can only be rolled back
/// afterwards. With the default, ABORT, the engine keeps each page of an index that a statement of several rows changes, to be able to undo
/// the statement: with two indexes more than half of its time, and gigabytes of temporary files for a million rows inside a savepoint. Where
/// a table has triggers the default is used nevertheless, because `OR FAIL` would override the conflict clauses of their statements.
final class SQLiteInsert {
    private static let rowsPerStatement = 50

    private let tables: SQLTables
    private let connection: SQLiteConnection
    private var one: [EntityIndex: SQLiteStatement] = [:]
    private var many: [EntityIndex: SQLiteStatement] = [:]

    init(_ tables: SQLTables, _ connection: SQLiteConnection) {
        self.tables = tables
        self.connection = connection
    }

    /// Inserts adjacent rows of a batch that belong to one entity.
    ///
    /// - Throws: The first error that inserting the rows one by one would have thrown.
    func insert(_ entity: EntityIndex, _ batch: RowBatch, _ rows: Range<Int>) throws(StorageError) {
        let description = tables.schema[entity]
        let number = description.isHierarchy ? tables.entityNumbers[entity] : nil
        let slots = description.slots.count
        var start = rows.lowerBound
        while rows.upperBound - start >= Self.rowsPerStatement, try fits(entity, slots) {
            let end = start + Self.rowsPerStatement
            let statement = try statement(entity, Self.rowsPerStatement, &many)
            var position: Int32 = 1
            for index in start..<end { position = Self.bind(statement, batch.row(index), number, slots, at: position) }
            let code = statement.run()
            // The engine inserts the rows in their order, so the error is that of the first conflicting one.
            try check(code, entity, rows: Self.rowsPerStatement)
            start = end
        }
        try insertOneByOne(entity, batch, start..<rows.upperBound, number, slots)
    }

    private func insertOneByOne(
        _ entity: EntityIndex, _ batch: RowBatch, _ rows: Range<Int>, _ number: Int16?, _ slots: Int
    ) throws(StorageError) {
        if rows.isEmpty { return }
        let statement = try statement(entity, 1, &one)
        for index in rows {
            _ = Self.bind(statement, batch.row(index), number, slots, at: 1)
            try check(statement.run(), entity, rows: 1)
        }
    }

    /// Throws if a statement has not inserted all of its rows.
    @inline(__always)
    private func check(_ code: Int32, _ entity: EntityIndex, rows: Int) throws(StorageError) {
        if code != SQLITE_DONE { throw SQLiteConstraint.error(code, connection, tables, entity) }
        if connection.changes != rows { throw SQLiteConstraint.ignored(tables, entity) }
    }

    /// Returns whether fifty rows stay within the engine's limit of variables.
    private func fits(_ entity: EntityIndex, _ slots: Int) throws(StorageError) -> Bool {
        Self.rowsPerStatement * (slots + 3) <= Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    }

    private func statement(
        _ entity: EntityIndex, _ rows: Int, _ known: inout [EntityIndex: SQLiteStatement]
    ) throws(StorageError) -> SQLiteStatement {
        if let statement = known[entity] { return statement }
        let statement = try connection.statement(try sql(entity, rows: rows))
        known[entity] = statement
        return statement
    }

    private func hasTriggers(_ entity: EntityIndex) throws(StorageError) -> Bool {
        let text: SQLText =
            "SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = \(bind: .string(tables.table(entity)), .string) COLLATE NOCASE"
        return try !connection.rows(text, [.int64]).isEmpty
    }

    private func sql(_ entity: EntityIndex, rows: Int) throws(StorageError) -> String {
        let description = tables.schema[entity]
        var columns = ["\"_id\""]
        if description.isHierarchy { columns.append("\"_entity\"") }
        columns.append("\"_version\"")
        columns += description.slots.indices.map { SQLText.quoted(tables.column(entity, $0)) }
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        let list = [String](repeating: row, count: rows).joined(separator: ", ")
        let hasTriggers = if rows > 1 { try hasTriggers(entity) } else { false }
        let insert = rows == 1 || hasTriggers ? "INSERT" : "INSERT OR FAIL"
        return "\(insert) INTO \(SQLText.quoted(tables.table(entity)))(\(columns.joined(separator: ", "))) VALUES \(list)"
    }

    /// Binds a row from a position on, and returns the next free position.
    @inline(__always)
    private static func bind(
        _ statement: SQLiteStatement, _ row: borrowing RowView, _ number: Int16?, _ slots: Int, at start: Int32
    ) -> Int32 {
        var position = start
        statement.bind(.int(row.key), at: position)
        position &+= 1
        if let number {
            statement.bind(.int(Int64(number)), at: position)
            position &+= 1
        }
        statement.bind(.int(row.version), at: position)
        position &+= 1
        for slot in 0..<slots {
            statement.bind(row.cells[slot], at: position)
            position &+= 1
        }
        return position
    }
}
#endif
