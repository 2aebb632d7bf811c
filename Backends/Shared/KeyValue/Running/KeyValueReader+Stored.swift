internal import PolystoreStorage

extension KeyValueReader: StoredFormReader {
    /// Passes the rows of a hierarchy that can be decoded to `body`, which may change other maps.
    final func decodedRows(_ root: EntityIndex, _ body: (borrowing RowView) throws(StorageError) -> Void) throws(StorageError) {
        let map = core.layout.rows[root], batch = RowBatch(capacity: 1)
        var last: Int64?
        while case let keys = try storedKeys(root, after: last, limit: 1024), let newest = keys.last {
            for key in keys {
                batch.clear()
                guard let record = try get(map, key) else { continue }
                let copy = UnsafeRawBufferPointer(start: batch.copy(record), count: record.count)
                do throws(StorageError) { try core.decode(key, copy, map, into: batch) } catch  where error.code == .corrupted { continue }
                try body(batch.row(0))
            }
            last = newest
        }
    }

    func storedKeys(_ root: EntityIndex, after key: Int64?, limit: Int) throws(StorageError) -> [Int64] {
        try checkOpen()
        if key == .max { return [] }
        let cursor = try engine.cursor(core.layout.rows[root])
        var keys: [Int64] = []
        var isThere = try RowKey(key.map { $0 + 1 } ?? .min).withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
        while isThere, keys.count < limit {
            try work.step()
            // The search for the next key would find a shorter one again.
            if cursor.key.count != 8 {
                throw StorageError(
                    .corrupted, "a row of \(core.schema.entities[root].name) has a malformed key; restore a backup of the store")
            }
            keys.append(KeyBytes.key(cursor.key))
            isThere = try cursor.next()
        }
        return keys
    }

    func storedRow(_ root: EntityIndex, key: Int64) throws(StorageError) -> [StoredColumn] {
        try checkOpen()
        guard let record = try get(core.layout.rows[root], key) else { return [] }
        return [StoredColumn(name: "record", type: "bytes", bytes: Array(record))]
    }

    func storedEntries(after position: Int64, limit: Int) throws(StorageError) -> [StoredEntry] {
        try checkOpen()
        if position == .max { return [] }
        let cursor = try engine.cursor(KeyValueLayout.history)
        var entries: [StoredEntry] = []
        var isThere = try RowKey(position + 1).withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
        while isThere, entries.count < limit {
            try work.step()
            if cursor.key.count != 8 {
                throw StorageError(.corrupted, "an entry of the history has a malformed position; restore a backup of the store")
            }
            let bytes = StoredColumn(name: "entry", type: "bytes", bytes: Array(cursor.value))
            entries.append(StoredEntry(position: KeyBytes.key(cursor.key), columns: [bytes]))
            isThere = try cursor.next()
        }
        return entries
    }
}

extension KeyValueLayout {
    /// Returns the ordered and full-text indexes of the entities of a hierarchy.
    func indexes(ofHierarchy root: EntityIndex) -> [IndexMap] {
        var seen: Set<Int> = []
        return schema[root].family.flatMap { keptIndexes[$0] }.filter { seen.insert($0.map).inserted }
    }
}

extension KeyBytes {
    /// Returns the entries of a row in an index.
    mutating func entries(of row: borrowing RowView, _ index: KeyValueLayout.IndexMap, _ core: KeyValueCore) -> [[UInt8]] {
        if index.isWords { return Array(WordIndex.entries(row, index)) }
        encode(row, slots: index.slots, cutTo: core.indexedBytes)
        append(row.key)
        return [bytes]
    }
}
