internal import PolystoreStorage

/// A row of a database of another program with a value that cannot be read, read value by value.
struct UnreadableRow {
    /// The entity of the row.
    private(set) var entity: EntityIndex
    /// The values by slot, without those that cannot be read.
    private(set) var values: [Int: Value] = [:]
    /// The slots of values that cannot be read, with their errors.
    private(set) var problems: [(slot: Int, message: String)] = []

    /// - Throws: `notFound` if the row does not exist.
    init(_ key: Int64, _ root: EntityIndex, _ reader: ReadSession) throws(StorageError) {
        let schema = reader.schema
        func read(_ fields: FetchPlan.Fields, _ body: (borrowing RowView) -> Void) throws(StorageError) {
            try reader.attempt { () throws(StorageError) in
                let cursor = try reader.cursor(for: FetchPlan(schema, root, keys: [key], fields: fields)), batch = RowBatch(capacity: 1)
                while try cursor.next(into: batch) { if batch.count > 0 { body(batch.row(0)) } }
            }
        }
        var found: EntityIndex?
        try read(.keysOnly) { found = $0.entity }
        guard let found else { throw StorageError(.notFound, "\(schema.entities[root].name) \(key) no longer exists") }
        entity = found
        for (index, slot) in schema[found].slots.enumerated() {
            var value: Value?
            do throws(StorageError) {
                try read(.some(SlotMask([index]))) { row in value = Value(row[index], as: slot.type) }
            } catch {
                if error.code != .valueNotStorable { throw error }
                problems.append((index, error.message))
            }
            values[index] = value
        }
    }
}
