#if SQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// What the sessions of an open store share.
final class SQLiteCore: Sendable {
    let storeID: UUID
    let tables: SQLTables
    let compiler: SQLCompiler
    let readers: SQLitePool
    let writer: SQLiteWriterSeat
    let statements: SQLStatements<SQLiteRowLayout>
    private let keyLayouts: [SQLiteRowLayout]
    private let closed = Atomic(false)

    init(_ metadata: StoreMetadata, readers: SQLitePool, writer: SQLiteWriterSeat) {
        storeID = metadata.storeID
        tables = SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers)
        compiler = SQLCompiler(tables)
        self.readers = readers
        self.writer = writer
        let (compiler, tables) = (compiler, tables)
        statements = SQLStatements(compiler) { SQLiteRowLayout($0, tables, root: $1.entity) }
        keyLayouts = metadata.schema.descriptions.map { SQLiteRowLayout(compiler.selectByKey($0.root), tables, root: $0.root) }
    }

    var isClosed: Bool { closed.load(ordering: .acquiring) }

    func close() {
        closed.store(true, ordering: .releasing)
        readers.close()
        writer.close()
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

    /// The position of a token; 0 for none.
    func position(_ token: HistoryToken?) throws(StorageError) -> Int64 {
        guard let token else { return 0 }
        guard token.store == storeID else {
            throw StorageError(.tokenExpired, "the token belongs to another store; start from the beginning")
        }
        return token.position
    }
}
#endif
