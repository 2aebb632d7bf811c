#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The state that the sessions of an open store share.
///
/// Unchecked, because classes inherit from it: all its properties and theirs are Sendable and immutable.
class SQLiteCore: SQLCore, @unchecked Sendable {
    final let metadata: StoreMetadata
    final let tables: SQLTables
    final let compiler: SQLCompiler
    final let readers: SQLitePool
    final let writer: SQLiteWriterSeat
    final let statements: SQLStatements<SQLiteRowLayout>
    private let keyLayouts: [SQLiteRowLayout]
    private let closed = Atomic(false)
    /// Whether this process has written a history entry, so that any gap in the history precedes it.
    final let hasResumedHistory = Atomic(false)

    /// - Parameter tables: The tables of the schema, where they are not at their default names.
    init(_ metadata: StoreMetadata, readers: SQLitePool, writer: SQLiteWriterSeat, tables: SQLTables? = nil) {
        self.metadata = metadata
        let tables = tables ?? SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers)
        self.tables = tables
        compiler = SQLCompiler(tables)
        self.readers = readers
        self.writer = writer
        let compiler = compiler
        statements = SQLStatements(compiler) { SQLiteRowLayout($0, tables, root: $1.entity) }
        keyLayouts = metadata.schema.descriptions.map { SQLiteRowLayout(compiler.selectByKey($0.root), tables, root: $0.root) }
    }

    final var isClosed: Bool { closed.load(ordering: .acquiring) }

    final func close() {
        retire()
        readers.close()
        writer.close()
    }

    /// Ends all sessions, because the tables now have another version.
    final func retire() { closed.store(true, ordering: .releasing) }

    /// Begins a session. If that fails because the store was closed in the meantime, and perhaps erased or opened again, throws
    /// `storeClosed`.
    final func beginning<Session>(_ body: () throws(StorageError) -> Session) throws(StorageError) -> Session {
        do throws(StorageError) { return try body() } catch { throw isClosed ? error.ofClosedStore : error }
    }

    /// Throws if another program has migrated the file to another version of the model. Takes the snapshot of a transaction.
    func check(_ connection: SQLiteConnection) throws(StorageError) {
        let statement = try connection.statement("SELECT value FROM polystore_metadata WHERE key = 'hash'")
        defer { statement.reset() }
        if try statement.step(), metadata.hash.utf8.elementsEqual(SQLiteCells.cell(statement.handle, 0, .text).bytes) { return }
        throw StoreMetadata.migrated(from: metadata.schema, to: storedSchema(connection))
    }

    /// Rewrites the file without gaps, while the writing connection has no transaction.
    func vacuum(_ connection: SQLiteConnection) throws(StorageError) { try connection.execute("VACUUM") }

    /// Creates a session that reads on a connection.
    func reader(_ connection: SQLiteConnection) -> SQLiteReader { SQLiteReader(self, connection) }

    /// Creates a write session on the writing connection.
    func session(_ connection: SQLiteConnection, _ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try SQLiteWriter(self, connection, options)
    }

    /// Returns the text of the schema that another program has stored, or nil if it cannot be read.
    private func storedSchema(_ connection: SQLiteConnection) -> String? {
        guard let statement = try? connection.statement("SELECT value FROM polystore_metadata WHERE key = 'schema'") else { return nil }
        defer { statement.reset() }
        guard (try? statement.step()) == true else { return nil }
        return String(decoding: SQLiteCells.cell(statement.handle, 0, .text).bytes, as: UTF8.self)
    }

    /// Returns the statement that reads a row of an entity's hierarchy by its key, with its layout.
    final func keyLayout(_ entity: EntityIndex) -> SQLiteRowLayout { keyLayouts[entity] }

    final func linkSelect(_ link: Int, _ side: LinkSide, _ keys: [Int64]?) -> SQLText {
        let table = tables.table(link: link)
        var text: SQLText = "SELECT \"owner\", \"rank\", \"member\" FROM \(identifier: table)"
        let column: SQLText = side == .owner ? "\"owner\"" : "\"member\""
        if let keys { text += " WHERE \(SQLDialect.sqlite.isIn(column, keys.map(Value.int), .int64))" }
        text += side == .owner ? " ORDER BY \"owner\", \"rank\", \"member\"" : " ORDER BY \"member\", \"rank\", \"owner\""
        return text
    }

    /// Raises the key counter of a hierarchy above a key, unless it is already higher.
    final func raiseKeys(_ root: EntityIndex, above key: Int64, _ connection: SQLiteConnection) throws(StorageError) {
        let name = tables.schema.entities[root].name
        if key == .max {
            throw StorageError(.limitExceeded, "the greatest loaded key of \(name) leaves no primary keys for new objects")
        }
        let statement = try connection.statement(
            "INSERT INTO polystore_counters(root, next) VALUES(?1, ?2) ON CONFLICT(root) DO UPDATE SET next = max(next, excluded.next)")
        let names = RowBatch(capacity: 1)
        statement.bind(names.cell(for: .string(name)), at: 1)
        statement.bind(.int(key + 1), at: 2)
        let code = statement.run()
        if code != SQLITE_DONE { throw connection.error(code) }
    }
}
#endif
