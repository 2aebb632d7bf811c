#if SQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// What the sessions of an open store share.
final class SQLiteCore: SQLCore, Sendable {
    let metadata: StoreMetadata
    let tables: SQLTables
    let compiler: SQLCompiler
    let readers: SQLitePool
    let writer: SQLiteWriterSeat
    let statements: SQLStatements<SQLiteRowLayout>
    private let keyLayouts: [SQLiteRowLayout]
    /// The tables of another program, where they are used as they lie.
    let inPlace: SQLiteInPlace?
    private let closed = Atomic(false)
    /// Whether what was left out of the history, if anything was, lies behind a commit of this program.
    let hasResumedHistory = Atomic(false)

    /// - Parameter tables: The tables of the schema, where they are not where they should be.
    init(
        _ metadata: StoreMetadata, readers: SQLitePool, writer: SQLiteWriterSeat, tables: SQLTables? = nil, inPlace: SQLiteInPlace? = nil
    ) {
        self.metadata = metadata
        self.inPlace = inPlace
        let tables = tables ?? SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers)
        self.tables = tables
        compiler = SQLCompiler(tables)
        self.readers = readers
        self.writer = writer
        let compiler = compiler
        statements = SQLStatements(compiler) { SQLiteRowLayout($0, tables, root: $1.entity) }
        keyLayouts = metadata.schema.descriptions.map { SQLiteRowLayout(compiler.selectByKey($0.root), tables, root: $0.root) }
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    func close() {
        retire()
        readers.close()
        writer.close()
    }

    /// Ends all sessions: the tables are those of another version now.
    func retire() { closed.store(true, ordering: .releasing) }

    /// Refuses to go on where another program has led the file to another version of the model; takes the snapshot of a transaction.
    func check(_ connection: SQLiteConnection) throws(StorageError) {
        if let inPlace { return try inPlace.check(connection) }
        let statement = try connection.statement("SELECT value FROM polystore_metadata WHERE key = 'hash'")
        defer { statement.reset() }
        if try statement.step(), metadata.hash.utf8.elementsEqual(SQLiteCells.cell(statement.handle, 0, .text).bytes) { return }
        throw StoreMetadata.migrated(from: metadata.schema, to: storedSchema(connection))
    }

    /// The text of the schema that another program has put there; nil where it cannot be read.
    private func storedSchema(_ connection: SQLiteConnection) -> String? {
        guard let statement = try? connection.statement("SELECT value FROM polystore_metadata WHERE key = 'schema'") else { return nil }
        defer { statement.reset() }
        guard (try? statement.step()) == true else { return nil }
        return String(decoding: SQLiteCells.cell(statement.handle, 0, .text).bytes, as: UTF8.self)
    }

    /// The statement that reads a row of an entity's hierarchy by its key, and its layout.
    func keyLayout(_ entity: EntityIndex) -> SQLiteRowLayout { keyLayouts[entity] }

    func linkSelect(_ link: Int, _ side: LinkSide, _ keys: [Int64]?) -> SQLText {
        let table = tables.table(link: link)
        var text: SQLText = "SELECT \"owner\", \"rank\", \"member\" FROM \(identifier: table)"
        let column: SQLText = side == .owner ? "\"owner\"" : "\"member\""
        if let keys { text += " WHERE \(SQLDialect.sqlite.isIn(column, keys.map(Value.int), .int64))" }
        text += side == .owner ? " ORDER BY \"owner\", \"rank\", \"member\"" : " ORDER BY \"member\", \"rank\", \"owner\""
        return text
    }
}
#endif
