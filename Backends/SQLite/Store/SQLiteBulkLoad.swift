#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A load of many rows. Where a table was empty, its indexes are created after the rows, by the last transaction of the load.
///
/// Creating an index from all rows is two to three times as fast as maintaining it row by row. With a small cache the engine's sorter is
/// faster still.
final class SQLiteBulkLoad {
    private let core: SQLiteCore
    private let connection: SQLiteConnection
    private let insert: SQLiteInsert
    private let hasIndexes: Bool
    private let part: BulkLoad
    /// The indexes that were dropped and have to be created again.
    private var dropped: [SQLTables.IndexStatement] = []
    private var prepared: Set<EntityIndex> = []
    private var greatest: [EntityIndex: Int64] = [:]
    /// The number of rows that were added to each table.
    private var counts: [EntityIndex: Int] = [:]

    /// - Parameter hasIndexes: Whether the tables have indexes.
    init(
        _ core: SQLiteCore, _ connection: SQLiteConnection, _ part: BulkLoad = .whole, hasIndexes: Bool = true
    ) throws(StorageError) {
        self.core = core
        self.hasIndexes = hasIndexes
        self.part = part
        self.connection = connection
        insert = SQLiteInsert(core.tables, connection)
        try connection.execute("PRAGMA wal_autocheckpoint = 20000")
        if part == .last { dropped = try missingIndexes() }
    }

    /// Returns the indexes that the transactions before have dropped.
    private func missingIndexes() throws(StorageError) -> [SQLTables.IndexStatement] {
        let present = try connection.entries("SELECT name, type FROM main.sqlite_schema")
        return core.tables.indexes().filter { present[$0.name] == nil }
    }

    /// Adds the rows of a batch.
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try prepare(core.tables.schema[root].root)
        var index = 0
        while index < batch.count {
            let entity = batch.row(index).entity
            var end = index + 1, last = batch.key(index)
            while end < batch.count, batch.row(end).entity == entity {
                last = max(last, batch.key(end))
                end += 1
            }
            try insert.insert(entity, batch, index..<end)
            let root = core.tables.schema[entity].root
            greatest[root] = max(greatest[root] ?? 0, last)
            counts[root, default: 0] += end - index
            index = end
        }
    }

    private func prepare(_ root: EntityIndex) throws(StorageError) {
        guard prepared.insert(root).inserted, hasIndexes else { return }
        let table = SQLText.quoted(core.tables.table(root))
        guard try connection.integer("SELECT 1 FROM \(table) LIMIT 1") == nil else { return }
        for index in core.tables.indexes() where index.root == root {
            try connection.execute(index.removal)
            dropped.append(index)
        }
    }

    /// Creates the dropped indexes again: at the end, before a savepoint, and before an operation that needs them.
    func makeIndexes() throws(StorageError) {
        if dropped.isEmpty { return }
        try connection.shrinkCache()
        for index in dropped {
            let code = sqlite3_exec(connection.handle, index.creation, nil, nil, nil)
            if code != SQLITE_OK { throw SQLiteConstraint.error(code, connection, core.tables, index.root) }
        }
        dropped.removeAll()
        try connection.restoreCache()
    }

    /// Forgets the indexes that were dropped after a savepoint that the transaction has rolled back to, because they exist again.
    func forget() {
        dropped.removeAll()
        prepared.removeAll()
    }

    /// Creates the dropped indexes again, unless further transactions follow, and raises the key counters.
    func finish() throws(StorageError) {
        if part == .part { dropped.removeAll() } else { try makeIndexes() }
        for (root, key) in greatest { try core.raiseKeys(root, above: key, connection) }
        greatest.removeAll()
        try analyze()
    }

    /// Updates the statistics by which the engine chooses among indexes, for tables with many new rows.
    private func analyze() throws(StorageError) {
        let roots =
            switch part {
            case .whole: counts.filter { $0.value >= SQLTables.analyzedRows }.keys.sorted()
            case .part: [EntityIndex]()
            case .last: core.tables.schema.roots
            }
        counts.removeAll()
        if roots.isEmpty || !hasIndexes { return }
        // This number of index entries is sufficient (https://sqlite.org/lang_analyze.html#approx).
        try connection.execute("PRAGMA analysis_limit = 1000")
        for root in roots { try connection.execute("ANALYZE \(SQLText.quoted(core.tables.table(root)))") }
    }

    func restoreSettings() {
        try? connection.restoreCache()
        try? connection.execute("PRAGMA wal_autocheckpoint = 1000")
    }
}
#endif
