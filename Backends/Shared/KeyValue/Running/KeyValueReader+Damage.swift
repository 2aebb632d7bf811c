internal import PolystoreStorage

extension KeyValueReader {
    /// The entries that the rows of a hierarchy have in an index.
    private struct EntryCount {
        var present = 0
        var missing = 0
    }

    func damages(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError) {
        try checkOpen()
        for root in core.schema.roots {
            var shared: [Int: SharedValues] = [:]
            let found = try entriesFound(root, &shared)
            for index in core.layout.indexes(ofHierarchy: root) {
                let entries = found[index.map] ?? EntryCount(), other = try engine.count(index.map) - entries.present
                let part = StoreDamage.Part.indexes(table: core.schema.entities[root].name, unique: nil)
                if entries.missing > 0 {
                    try body(StoreDamage(part, "the index \(index.name) lacks entries of objects: \(entries.missing)"))
                }
                if other > 0 { try body(StoreDamage(part, "the index \(index.name) has entries that no object has: \(other)")) }
                guard let constraint = index.constraint else { continue }
                for keys in try (shared[index.map] ?? SharedValues()).groups(index, self) {
                    try body(StoreDamage(.duplicates(index: index.name, constraint, keys: keys), ""))
                }
            }
        }
    }

    /// Looks up the entries that the rows of a hierarchy have in its indexes. Returns their numbers by map.
    ///
    /// - Parameter shared: Receives the values of rows without an entry in a unique index, by map.
    private func entriesFound(_ root: EntityIndex, _ shared: inout [Int: SharedValues]) throws(StorageError) -> [Int: EntryCount] {
        var found: [Int: EntryCount] = [:], key = KeyBytes()
        try decodedRows(root) { row throws(StorageError) in
            for index in core.layout.keptIndexes[row.entity] {
                for entry in key.entries(of: row, index, core) {
                    key.reset()
                    key.append(raw: entry)
                    let isThere = try key.withBytes { bytes throws(StorageError) in try engine.get(index.map, bytes) != nil }
                    if isThere {
                        found[index.map, default: EntryCount()].present += 1
                    } else {
                        found[index.map, default: EntryCount()].missing += 1
                        if index.constraint != nil { shared[index.map, default: SharedValues()].add(Array(entry.dropLast(8)), row.key) }
                    }
                }
            }
        }
        return found
    }
}

/// The rows that may have the same values under a unique constraint, by their encoded values.
private struct SharedValues {
    private var keys: [[UInt8]: Set<Int64>] = [:]

    mutating func add(_ values: [UInt8], _ key: Int64) { keys[values, default: []].insert(key) }

    /// Returns the keys of the rows that have the same values, each group in ascending order.
    ///
    /// Rows with entries are neighbours in the index; rows without one were added before.
    func groups(_ index: KeyValueLayout.IndexMap, _ reader: KeyValueReader) throws(StorageError) -> [[Int64]] {
        var all = self, last: (values: [UInt8], key: Int64)?, withoutValue: [UInt8]?
        let cursor = try reader.engine.cursor(index.map)
        var isThere = try cursor.next()
        while isThere {
            try reader.work.step()
            let values = Array(cursor.key.dropLast(8)), key = KeyBytes.lastKey(cursor.key)
            if let last, last.values == values, withoutValue != values {
                // Rows with nil have the same entry and violate nothing.
                if try reader.cells(last.key, index) == nil {
                    withoutValue = values
                } else {
                    all.add(values, last.key)
                    all.add(values, key)
                }
            } else if keys[values] != nil {
                all.add(values, key)
            }
            last = (values, key)
            isThere = try cursor.next()
        }
        var groups: [[Int64]] = []
        for (_, found) in all.keys where found.count > 1 {
            // Values are cut in an index, and an entry can be that of another value.
            var same: [[Value]: [Int64]] = [:]
            for key in found.sorted() { if let cells = try reader.cells(key, index) { same[cells, default: []].append(key) } }
            groups += same.values.filter { $0.count > 1 }
        }
        return groups.sorted { $0[0] < $1[0] }
    }
}

extension KeyValueReader {
    /// Returns the values of a row under a unique constraint; nil if the constraint does not concern the row.
    fileprivate func cells(_ key: Int64, _ index: KeyValueLayout.IndexMap) throws(StorageError) -> [Value]? {
        let map = core.layout.rows[index.entity], batch = RowBatch(capacity: 1)
        guard let record = try get(map, key) else { return nil }
        do throws(StorageError) { try core.decode(key, record, map, into: batch) } catch  where error.code == .corrupted { return nil }
        let row = batch.row(0)
        guard core.schema[index.entity].family.contains(row.entity) else { return nil }
        var values: [Value] = []
        for slot in index.slots {
            guard let value = Value(row[slot], as: core.schema[row.entity].slots[slot].type), !value.isNull else { return nil }
            values.append(value)
        }
        return values
    }
}
