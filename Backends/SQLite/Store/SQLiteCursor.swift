#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// Rows of a statement, one for each call: the cells point into the engine's own memory, which is valid for one row.
///
/// `sqlite3_column_value` is called once a row; the other values of the row lie at equal distances behind the first. That distance is
/// not documented, so it is proved against the public API on the first row of each cursor, with a fall-back to one call per column. It
/// saves a fifth of the time of reading a row.
final class SQLiteCursor: RowCursor {
    private let statement: SQLiteStatement
    private let layout: SQLiteRowLayout
    private var stride = 0
    private var isAtEnd = false
    /// The session that the cursor reads from.
    private let session: SQLiteReader

    init(_ statement: SQLiteStatement, _ layout: SQLiteRowLayout, _ session: SQLiteReader) {
        self.statement = statement
        self.layout = layout
        self.session = session
        statement.isInUse = true
    }

    deinit { if !isAtEnd { statement.reset() } }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        if isAtEnd { return false }
        try session.checkOpen()
        guard try statement.step() else {
            isAtEnd = true
            statement.reset()
            return false
        }
        if stride == 0 { proveStride() }
        try layout.fill(batch, statement.handle, stride)
        return true
    }

    private func proveStride() {
        stride = -1
        let count = layout.columns.count
        guard count > 1, let first = sqlite3_column_value(statement.handle, 0), let second = sqlite3_column_value(statement.handle, 1)
        else { return }
        let base = UnsafeRawPointer(first)
        let step = UnsafeRawPointer(second) - base
        for column in 0..<count {
            guard let value = sqlite3_column_value(statement.handle, Int32(column)), UnsafeRawPointer(value) - base == column * step
            else {
                return
            }
        }
        stride = step
    }
}

/// Where the parts of a row are in a statement's columns.
///
/// Unchecked: the tables behind the pointers are filled once by `init` and freed by `deinit`.
final class SQLiteRowLayout: @unchecked Sendable {
    /// An entity's slots: plain memory, because retaining two arrays for each row would cost a tenth of reading it.
    private struct Entity {
        let index: EntityIndex
        let count: Int
        let columns: UnsafeMutablePointer<Int32>
        let kinds: UnsafeMutablePointer<CellKind>
    }

    let sql: String
    let columns: [CellKind]
    private let entityColumn: Int
    private let versionColumn: Int
    /// By the number that `_entity` holds; the only one is at 0 where there is no hierarchy.
    private let entities: UnsafeMutablePointer<Entity?>
    private let entityCount: Int
    private let name: String

    init(_ select: SQLSelect, _ tables: SQLTables, root: EntityIndex) {
        sql = select.text.rendered(.sqlite).sql
        columns = select.columns.map(\.cellKind)
        entityColumn = select.entityColumn ?? -1
        versionColumn = select.versionColumn
        name = tables.schema.entities[root].name
        entityCount = Int(tables.entityNumbers.max() ?? 0) + 1
        entities = .allocate(capacity: entityCount)
        entities.initialize(repeating: nil, count: entityCount)
        for (index, columns) in select.slots {
            let slots = tables.schema[index].slots
            let entity = Entity(
                index: index, count: slots.count, columns: .allocate(capacity: max(slots.count, 1)),
                kinds: .allocate(capacity: max(slots.count, 1)))
            for slot in slots.indices {
                entity.columns[slot] = Int32(columns[slot])
                (entity.kinds + slot).initialize(to: slots[slot].cellKind)
            }
            entities[select.entityColumn == nil ? 0 : Int(tables.entityNumbers[index])] = entity
        }
    }

    deinit {
        for number in 0..<entityCount {
            entities[number]?.columns.deallocate()
            entities[number]?.kinds.deallocate()
        }
        entities.deallocate()
    }

    /// Adds the present row of a statement to a batch.
    @inline(__always)
    func fill(_ batch: RowBatch, _ statement: OpaquePointer, _ stride: Int) throws(StorageError) {
        guard let first = sqlite3_column_value(statement, 0) else { throw damaged }
        let base = UnsafeRawPointer(first)
        @inline(__always)
        func value(_ column: Int) -> OpaquePointer {
            stride > 0
                ? OpaquePointer(base + column &* stride) : sqlite3_column_value(statement, Int32(truncatingIfNeeded: column)) ?? first
        }
        var number = 0
        if entityColumn >= 0 { number = Int(sqlite3_value_int(value(entityColumn))) }
        guard number >= 0, number < entityCount, let entity = entities[number] else { throw damaged }
        let count = entity.count
        let cells = batch.appendRow(
            key: sqlite3_value_int64(first), version: sqlite3_value_int64(value(versionColumn)), entity: entity.index, slots: count)
        for slot in 0..<count {
            let column = Int(entity.columns[slot])
            cells[slot] = column < 0 ? .null : SQLiteCells.cell(value(column), entity.kinds[slot])
        }
    }

    private var damaged: StorageError {
        StorageError(.corrupted, "a row of \(name) has an unknown entity number", details: .init(entity: name))
    }
}
#endif
