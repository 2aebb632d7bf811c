internal import PolystoreStorage

/// Loading many rows: appended where their keys ascend, index entries sorted and appended at the end where an index was empty.
struct BulkLoad {
    private let core: KeyValueCore
    private let maps: any OrderedWriter
    private var last: [Int: Int64] = [:]
    private var isFresh: [EntityIndex: Bool] = [:]
    /// Entries of indexes that were empty, to be sorted.
    private var entries: [Int: [[UInt8]]] = [:]
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
        var greatestKey = last[map]
        for position in 0..<batch.count {
            let row = batch.row(position)
            let kinds = core.layout.kinds[row.entity].count
            let size = Record.size(row.cells, kinds)
            if size > core.engine.maximumValueBytes {
                throw StorageError(.valueTooLarge, "an object has \(size) bytes; the store takes \(core.engine.maximumValueBytes)")
            }
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
            for index in core.layout.indexes[row.entity] {
                // Whether a compound key has a nil is no longer seen in its bytes: such constraints are checked at once.
                if isFresh[root] == true, index.constraint == nil || index.slots.count == 1 {
                    entries[index.map, default: []].append(indexes.entry(row, index))
                } else {
                    try indexes.add(row, [index])
                }
            }
        }
        last[map] = greatestKey
        greatest[root] = max(greatest[root] ?? 0, greatestKey ?? 0)
    }

    private func insert(_ map: Int, _ key: Int64, _ size: Int, _ name: String) throws(StorageError) -> UnsafeMutableRawPointer {
        let isTaken = try RowKey(key).withBytes { bytes throws(StorageError) in try maps.get(map, bytes) != nil }
        if isTaken {
            throw StorageError(
                .alreadyExists, "an object of \(name) with this key is already there", details: .init(entity: name, keys: [key]))
        }
        return try RowKey(key).withBytes { bytes throws(StorageError) in try maps.reserve(map, bytes, size) }
    }

    /// Forgets the rows that were loaded after a mark that the transaction has gone back to: their entries were not yet written.
    mutating func forget() {
        entries = [:]
        words = WordIndex.Collected()
        last = [:]
        isFresh = [:]
    }

    /// Writes the index entries that were put off.
    mutating func finish(_ indexes: IndexWriter) throws(StorageError) {
        try words.finish(maps)
        for index in core.layout.allIndexes {
            guard var list = entries.removeValue(forKey: index.map) else { continue }
            list.sort { a, b in a.withUnsafeBytes { x in b.withUnsafeBytes { compareBytes(x, $0) < 0 } } }
            try append(list, index)
        }
        // Later rows find the indexes filled.
        for root in isFresh.keys { isFresh[root] = false }
    }

    private func append(_ list: [[UInt8]], _ index: KeyValueLayout.IndexMap) throws(StorageError) {
        var previous: ArraySlice<UInt8> = [], previousKey: Int64 = 0
        for entry in list {
            let prefix = entry.dropLast(8)
            // Two neighbours that agree in all but the row's key break a unique constraint, unless a value is nil or was cut.
            if let constraint = index.constraint, prefix == previous, prefix.first != 0, prefix.count < 503 {
                let name = core.schema.entities[index.entity].name
                throw StorageError(
                    .uniqueConstraintViolated, "two objects of \(name) have the same \(constraint.name)",
                    details: .init(entity: name, constraint: constraint.name, keys: [previousKey, entry.withUnsafeBytes(KeyBytes.lastKey)]))
            }
            previous = prefix
            if index.constraint != nil { previousKey = entry.withUnsafeBytes(KeyBytes.lastKey) }
            var failure: StorageError?
            entry.withUnsafeBytes { bytes in
                do throws(StorageError) { _ = try maps.append(index.map, bytes, 0) } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }
}
