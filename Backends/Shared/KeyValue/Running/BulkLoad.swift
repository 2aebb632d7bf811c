internal import PolystoreStorage

/// A load of many rows. Rows are appended where their keys ascend. Entries of an index that was empty are sorted first: those of a small
/// load are appended at the index's end, those of a larger load are sorted in runs, so that their memory is bounded.
struct BulkLoad {
    /// The maximum size of the pending entries, in bytes.
    private static let longestRun = 32 << 20

    private let core: KeyValueCore
    private let maps: any OrderedWriter
    private var last: [Int: Int64] = [:]
    private var isFresh: [EntityIndex: Bool] = [:]
    /// The pending entries of indexes that were empty.
    private var entries: [Int: IndexEntries] = [:]
    /// The indexes that already contain entries of this load.
    private var begun: Set<Int> = []
    private var words = WordIndex.Collected()
    private(set) var greatest: [EntityIndex: Int64] = [:]

    init(_ core: KeyValueCore, _ maps: any OrderedWriter) {
        self.core = core
        self.maps = maps
    }

    mutating func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        let map = core.layout.rows[root]
        if isFresh[root] == nil {
            last[map] = try maps.lastKey(map)
            isFresh[root] = last[map] == nil
        }
        let indexes = IndexWriter(core, maps)
        var greatestKey = last[map], checked: [EntityIndex: [KeyValueLayout.IndexMap]] = [:]
        for position in 0..<batch.count {
            let row = batch.row(position)
            let kinds = core.layout.kinds[row.entity].count
            let size = Record.size(row.cells, kinds)
            if size > core.engine.maximumValueBytes {
                throw core.objectTooLarge(map, row.key, size)
            }
            let direct = checked[row.entity] ?? core.layout.indexes[row.entity].filter { !waits($0, root) }
            checked[row.entity] = direct
            try indexes.check(row, direct)
            let target: UnsafeMutableRawPointer
            if let known = greatestKey, row.key <= known {
                target = try insert(map, row.key, size, core.schema.entities[row.entity].name)
            } else {
                target = try RowKey(row.key).withBytes { key throws(StorageError) in try maps.append(map, key, size) }
                greatestKey = row.key
            }
            Record.write(
                row.cells, kinds, number: core.layout.entityNumbers[row.entity], version: row.version, to: target, size: size,
                isChecked: core.checksRecords)
            for index in core.layout.wordIndexes[row.entity] { try words.add(row, index, maps) }
            try indexes.add(row, direct)
            for index in core.layout.indexes[row.entity] where waits(index, root) {
                let entry = indexes.entry(row, index)
                if index.constraint == nil || entry.count - 8 < core.indexedBytes {
                    entries[index.map, default: IndexEntries()].append(entry)
                    continue
                }
                // Keys that were cut may be equal although their values differ, so the constraint is checked immediately. This writes to
                // the index, so that entries sorted later no longer go to an empty index.
                try indexes.check(row, [index])
                try indexes.add(row, [index])
                begun.insert(index.map)
            }
        }
        if entries.values.reduce(0, { $0 + $1.size }) > Self.longestRun { try writeRuns() }
        last[map] = greatestKey
        greatest[root] = max(greatest[root] ?? 0, greatestKey ?? 0)
    }

    /// Whether entries of an index are collected and sorted before they are written. The bytes of a compound key do not show whether it
    /// contains a nil, so constraints over several slots are checked immediately.
    private func waits(_ index: KeyValueLayout.IndexMap, _ root: EntityIndex) -> Bool {
        isFresh[root] == true && (index.constraint == nil || index.slots.count == 1)
    }

    private func insert(_ map: Int, _ key: Int64, _ size: Int, _ name: String) throws(StorageError) -> UnsafeMutableRawPointer {
        let isTaken = try RowKey(key).withBytes { bytes throws(StorageError) in try maps.get(map, bytes) != nil }
        if isTaken {
            throw StorageError(
                .alreadyExists, "\(name) \(key) already exists", details: .init(entity: name, keys: [key]))
        }
        return try RowKey(key).withBytes { bytes throws(StorageError) in try maps.reserve(map, bytes, size) }
    }

    /// Discards the pending entries of rows that were loaded after a savepoint that the transaction has rolled back to.
    mutating func forget() {
        entries = [:]
        begun = []
        words = WordIndex.Collected()
        last = [:]
        isFresh = [:]
    }

    /// Writes the pending index entries.
    mutating func finish(_ indexes: IndexWriter) throws(StorageError) {
        try words.finish(maps)
        try writeRuns()
        begun = []
        // For later rows the indexes are no longer empty.
        for root in isFresh.keys { isFresh[root] = false }
    }

    private mutating func writeRuns() throws(StorageError) {
        for index in core.layout.allIndexes {
            guard let run = entries.removeValue(forKey: index.map) else { continue }
            try write(run, index, isFirst: begun.insert(index.map).inserted)
        }
    }

    private func write(_ run: IndexEntries, _ index: KeyValueLayout.IndexMap, isFirst: Bool) throws(StorageError) {
        var previous: [UInt8] = [], previousKey: Int64 = 0
        try run.inOrder { entry throws(StorageError) in
            // Two entries that agree in all but the row key violate a unique constraint, unless a value is nil. No entry was cut (see
            // `load`).
            if let constraint = index.constraint {
                let prefix = UnsafeRawBufferPointer(rebasing: entry.dropLast(8))
                if prefix.first != 0 {
                    let isNeighbour = prefix.elementsEqual(previous)
                    let other = isNeighbour ? previousKey : isFirst ? nil : try earlierKey(index, prefix)
                    if let other { throw violation(index, constraint, [other, KeyBytes.lastKey(entry)]) }
                }
                previous = Array(prefix)
                previousKey = KeyBytes.lastKey(entry)
            }
            if isFirst {
                _ = try maps.append(index.map, entry, 0)
            } else {
                try maps.put(index.map, entry, UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
    }

    /// Returns the row key of an entry of an earlier run with the same values, or nil. Each call creates a cursor, because a cursor need
    /// not see entries that were added after it was created.
    private func earlierKey(_ index: KeyValueLayout.IndexMap, _ prefix: UnsafeRawBufferPointer) throws(StorageError) -> Int64? {
        let cursor = try maps.cursor(index.map)
        guard try cursor.seek(prefix), cursor.key.count == prefix.count + 8, cursor.key.starts(with: prefix) else { return nil }
        return KeyBytes.lastKey(cursor.key)
    }

    private func violation(_ index: KeyValueLayout.IndexMap, _ constraint: ResolvedConstraint, _ keys: [Int64]) -> StorageError {
        let name = core.schema.entities[index.entity].name
        return StorageError(
            .uniqueConstraintViolated, "two objects of \(name) have the same \(constraint.name)",
            details: .init(entity: name, constraint: constraint.name, keys: keys))
    }
}
