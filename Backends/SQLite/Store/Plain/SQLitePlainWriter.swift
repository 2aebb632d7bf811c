#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A transaction that makes tables as another program would declare them.
final class SQLitePlainWriter: PlainTablesWriter {
    private let tables: PlainTables
    private let losses: Set<String>
    private let connection: SQLiteConnection
    private let path: String
    /// Whether the file did not exist.
    private let isNew: Bool
    private var isOpen = true
    private var inserts: [Int: SQLiteStatement] = [:]
    private var pairInserts: [Int: SQLiteStatement] = [:]

    init(_ place: SQLitePlace, _ tables: PlainTables, _ losses: Set<String>, _ options: WriteOptions) throws(StorageError) {
        self.tables = tables
        self.losses = losses
        path = place.path
        isNew = !FileManager.default.fileExists(atPath: place.path)
        connection = try place.maker()
        SQLiteForm.register(connection.handle)
        SQLiteStoring.register(connection.handle)
        connection.wait(min(options.timeout, place.busyTimeout))
        try connection.begin("BEGIN IMMEDIATE", options.limit)
        do throws(StorageError) {
            if let obstacle = try Self.obstacle(to: tables, connection) { throw obstacle }
            for statement in tables.statements { try connection.execute(statement) }
        } catch {
            end()
            throw error
        }
    }

    deinit { end() }

    /// Returns the error for a file that is a store, or contains something with the name of one of the tables.
    static func obstacle(to tables: PlainTables, _ connection: SQLiteConnection) throws(StorageError) -> StorageError? {
        let rows = try connection.rows("SELECT name FROM main.sqlite_master", [.string])
        let found = Set(rows.map { PlainDialect.sqlite.folded($0[0].text) })
        if found.contains("polystore_metadata") {
            return StorageError(.alreadyExists, "the target is a Polystore store; plain tables need a file of their own")
        }
        let names = tables.tables.map(\.name) + tables.pairs.map(\.name)
        return names.first { found.contains(PlainDialect.sqlite.folded($0)) }.map { .tableExists($0, in: "the file") }
    }

    // MARK: Rows

    func load(_ table: Int, _ batch: RowBatch, _ rows: Range<Int>) throws(StorageError) {
        let statement = try insert(table), slots = tables.tables[table].columns.map(\.slot)
        for index in rows {
            let row = batch.row(index)
            statement.bind(.int(row.key), at: 1)
            for (column, slot) in slots.enumerated() { statement.bind(row.cells[slot], at: Int32(column + 2)) }
            try run(statement, tables.tables[table].name, row.key)
        }
    }

    private func insert(_ table: Int) throws(StorageError) -> SQLiteStatement {
        if let known = inserts[table] { return known }
        let description = tables.tables[table]
        var names = [SQLText.quoted(description.key)], values = ["?1"]
        for (index, column) in description.columns.enumerated() {
            names.append(SQLText.quoted(column.name))
            let value = "?\(index + 2)", place = "\(description.name).\(column.name)"
            let declared = SQLiteDeclaredType(PlainDialect.type(column.type))
            var form = SQLiteStoring(column.type, declared: declared, newest: nil)
            if form == .number, losses.contains(column.loss) { form = .nearestNumber }
            values.append(form?.call(place: place)(value) ?? value)
        }
        let target = "main.\(SQLText.quoted(description.name))(\(names.joined(separator: ", ")))"
        let statement = try connection.statement("INSERT INTO \(target) VALUES(\(values.joined(separator: ", ")))")
        inserts[table] = statement
        return statement
    }

    func load(pairs table: Int, _ pairs: [LinkPair]) throws(StorageError) {
        let description = tables.pairs[table], statement: SQLiteStatement
        if let known = pairInserts[table] {
            statement = known
        } else {
            let columns = "\(SQLText.quoted(description.owner)), \(SQLText.quoted(description.member))"
            statement = try connection.statement("INSERT INTO main.\(SQLText.quoted(description.name))(\(columns)) VALUES(?1, ?2)")
            pairInserts[table] = statement
        }
        for pair in pairs {
            statement.bind(.int(pair.owner), at: 1)
            statement.bind(.int(pair.member), at: 2)
            try run(statement, description.name, pair.owner)
        }
    }

    private func run(_ statement: SQLiteStatement, _ name: String, _ key: Int64) throws(StorageError) {
        let code = statement.run()
        if code == SQLITE_DONE { return }
        guard code & 0xff == SQLITE_CONSTRAINT else { throw connection.error(code) }
        // The message names the constraint and contains no value.
        let message = String(cString: sqlite3_errmsg(connection.handle))
        throw StorageError(
            .validationFailed, "row \(key) of the table \(name) violates its rules: \(message); nothing was written",
            details: .init(entity: name, keys: [key]))
    }

    // MARK: The end

    func finish(nextKeys: [Int64]) throws(StorageError) {
        try connection.shrinkCache()
        for statement in tables.finishing { try connection.execute(statement) }
        try connection.restoreCache()
        for name in tables.tables.map(\.name) + tables.pairs.map(\.name) {
            let check: SQLText = "SELECT parent FROM pragma_foreign_key_check(\(bind: .string(name), .string), 'main') LIMIT 1"
            guard let parent = try connection.rows(check, [.string]).first?[0].text else { continue }
            throw StorageError(
                .validationFailed, "a row of \(name) refers to a row of \(parent) that does not exist; nothing was written",
                details: .init(entity: name))
        }
    }

    func copy() throws(StorageError) -> PlainCopy {
        var catalog = SQLiteCatalogReader(connection)
        let source = try catalog.catalog().source(), metadata = try StoreMetadata(source, identity: path)
        for view in source.views(SQLTables(source.schema, .sqlite, entityNumbers: metadata.entityNumbers)) {
            try connection.execute(view)
        }
        let seat = SQLiteWriterSeat(nil) { () throws(StorageError) in throw .isForeign }
        let core = SQLiteCore(metadata, readers: SQLitePool { () throws(StorageError) in throw .isForeign }, writer: seat)
        return try tables.copy(source, Reader(core, connection))
    }

    /// A session of a transaction that continues after it.
    private final class Reader: SQLiteReader {
        override func giveBack() {}
    }

    func commit() throws(StorageError) {
        try connection.commit({ nil }, { connection.error($0) })
        isOpen = false
        connection.end()
    }

    func end() {
        guard isOpen else { return }
        isOpen = false
        connection.end()
        // The engine creates the file with its first page.
        guard isNew, let size = SQLiteStore.size(of: [path]), size == 0 else { return }
        try? FileManager.default.removeItem(atPath: path)
    }
}
#endif
