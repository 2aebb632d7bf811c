#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The positions of the parts of a row in a statement's columns.
///
/// Unchecked: `init` fills the memory that the pointers refer to once, and `deinit` frees it.
final class SQLiteRowLayout: @unchecked Sendable {
    /// An entity's slots, in unmanaged memory: retaining two arrays for each row would add a tenth to the cost of reading it.
    private struct Entity {
        let index: EntityIndex
        let count: Int
        let sources: UnsafeMutablePointer<Source>
    }

    /// The column of a slot's value; -1 for a slot that was not requested.
    private struct Source {
        let column: Int32
        let kind: CellKind
    }

    let sql: String
    private let keyColumn: Int
    private let entityColumn: Int
    private let versionColumn: Int
    /// The entities by their number in `_entity`. Without a hierarchy the only one is at 0.
    private let entities: UnsafeMutablePointer<Entity?>
    private let entityCount: Int
    private let name: String

    init(_ select: SQLSelect, _ tables: SQLTables, root: EntityIndex) {
        sql = select.text.rendered(.sqlite).sql
        keyColumn = select.keyColumn
        entityColumn = select.entityColumn ?? -1
        versionColumn = select.versionColumn
        name = tables.schema.entities[root].name
        entityCount = Int(tables.entityNumbers.max() ?? 0) + 1
        entities = .allocate(capacity: entityCount)
        entities.initialize(repeating: nil, count: entityCount)
        for (index, columns) in select.slots {
            let slots = tables.schema[index].slots
            let entity = Entity(index: index, count: slots.count, sources: .allocate(capacity: max(slots.count, 1)))
            for slot in slots.indices {
                (entity.sources + slot).initialize(to: Source(column: Int32(columns[slot]), kind: slots[slot].cellKind))
            }
            entities[select.entityColumn == nil ? 0 : Int(tables.entityNumbers[index])] = entity
        }
    }

    deinit {
        for number in 0..<entityCount { entities[number]?.sources.deallocate() }
        entities.deallocate()
    }

    /// Adds the current row of a statement to a batch.
    @inline(__always)
    func fill(_ batch: RowBatch, _ statement: SQLiteStatement) throws(StorageError) {
        guard let first = sqlite3_column_value(statement.handle, 0) else { throw damaged }
        let base = UnsafeRawPointer(first), stride = statement.valueStride
        @inline(__always)
        func value(_ column: Int) -> OpaquePointer {
            if stride > 0 { return OpaquePointer(base + column &* stride) }
            return sqlite3_column_value(statement.handle, Int32(truncatingIfNeeded: column)) ?? first
        }
        var number = 0
        if entityColumn >= 0 { number = Int(sqlite3_value_int(value(entityColumn))) }
        guard number >= 0, number < entityCount, let entity = entities[number] else { throw damaged }
        let count = entity.count
        let cells = batch.appendRow(
            key: sqlite3_value_int64(value(keyColumn)), version: sqlite3_value_int64(value(versionColumn)), entity: entity.index,
            slots: count)
        for slot in 0..<count {
            let source = entity.sources[slot]
            cells[slot] = source.column < 0 ? .null : SQLiteCells.cell(value(Int(source.column)), source.kind)
        }
    }

    private var damaged: StorageError {
        StorageError(
            .corrupted, "a row of \(name) has an unknown entity number; restore the database from a backup", details: .init(entity: name))
    }
}
#endif
