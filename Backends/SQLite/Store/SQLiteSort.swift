#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A sort of a fetch's rows outside of the engine.
///
/// The engine's sorter compares encoded records, decodes each key at every comparison, and decodes each record again on output. Sorting
/// cells instead saves a third of the time of fetching a thousand to ten thousand rows. Larger results are left to the engine, which can
/// sort in a file.
struct SQLiteSort {
    private static let mostRows = 32_768, mostBytes = 16 << 20

    let reader: SQLiteReader
    let plan: FetchPlan

    /// Creates the sort, or nil where the sort order uses cells that are not read anyway, or where a limit makes the engine keep only few
    /// rows.
    init?(_ plan: FetchPlan, _ reader: SQLiteReader) {
        guard plan.limit == nil, plan.fields == .all || plan.sort.isEmpty else { return nil }
        for key in plan.sort {
            guard case .path(let path) = key.expression, path.steps.isEmpty else { return nil }
        }
        self.reader = reader
        self.plan = plan
    }

    /// Returns the rows in order, or nil when the engine has an index for the order or there are too many rows.
    ///
    /// - Parameter ordered: The statement that returns the rows in order.
    func rows(_ ordered: SQLiteStatement) throws(StorageError) -> HeldRows? {
        guard try isSorting(ordered) else { return nil }
        let select = reader.core.statements.statement(plan, isOrdered: false)
        let source = SQLiteCursor(try reader.connection.statement(select.sql, select.bindings), select.layout, reader)
        return try Self.sorted(source, plan, reader.core.tables.schema)
    }

    /// Returns the rows of a cursor in the sort order of a plan, or nil when there are too many.
    static func sorted(_ source: SQLiteCursor, _ plan: FetchPlan, _ schema: Schema) throws(StorageError) -> HeldRows? {
        var sorter = RowSorter(plan, schema: schema)
        let batch = RowBatch(capacity: 1), related = NoRelatedRows()
        while try source.next(into: batch) {
            try sorter.add(batch.row(0), related)
            if sorter.held.rows > mostRows || sorter.held.bytes > mostBytes { return nil }
        }
        return sorter.sorted()
    }

    /// Returns whether the engine sorts the rows of a statement by all sort terms. It is determined once for each prepared statement.
    private func isSorting(_ statement: SQLiteStatement) throws(StorageError) -> Bool {
        if let known = statement.isSorting { return known }
        let isSorting = try reader.engineLines(statement.sql).contains("USE TEMP B-TREE FOR ORDER BY")
        statement.isSorting = isSorting
        return isSorting
    }
}
#endif
