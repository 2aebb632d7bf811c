internal import PolystoreStorage

/// The writer of the indexes and link maps of a write transaction.
final class IndexWriter {
    private let core: KeyValueCore
    private let maps: any OrderedWriter
    private var key = KeyBytes()
    private let other = RowBatch(capacity: 1)

    init(_ core: KeyValueCore, _ maps: any OrderedWriter) {
        self.core = core
        self.maps = maps
    }

    /// Encodes the values of a row in an index, cut to the engine's limit, without the row key.
    private func encode(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) {
        key.encode(row, slots: index.slots, cutTo: core.indexedBytes)
    }

    /// Returns the key of a row's entry in an index.
    func entry(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) -> [UInt8] {
        encode(row, index)
        key.append(row.key)
        return key.bytes
    }

    /// Removes the index entries of a row.
    func remove(_ row: borrowing RowView, _ indexes: [KeyValueLayout.IndexMap]) throws(StorageError) {
        for index in indexes {
            if index.isWords {
                try WordIndex.remove(row, index, maps)
                continue
            }
            encode(row, index)
            key.append(row.key)
            let map = index.map
            _ = try key.withBytes { bytes throws(StorageError) in try maps.delete(map, bytes) }
        }
    }

    /// Checks the unique constraints of a row against the other rows, before anything of the row is written.
    ///
    /// - Throws: `uniqueConstraintViolated`.
    func check(_ row: borrowing RowView, _ indexes: [KeyValueLayout.IndexMap]) throws(StorageError) {
        for index in indexes {
            guard let constraint = index.constraint, !index.slots.contains(where: { row[$0].isNull }) else { continue }
            encode(row, index)
            if let found = try other(row, index) { throw violation(row, constraint, found) }
        }
    }

    /// Adds the index entries of a row whose constraints were checked.
    func add(_ row: borrowing RowView, _ indexes: [KeyValueLayout.IndexMap]) throws(StorageError) {
        for index in indexes {
            if index.isWords {
                try WordIndex.add(row, index, maps)
                continue
            }
            encode(row, index)
            key.append(row.key)
            let map = index.map
            try key.withBytes { bytes throws(StorageError) in try maps.put(map, bytes, UnsafeRawBufferPointer(start: nil, count: 0)) }
        }
    }

    /// Returns the row key of another row with the same values under a unique constraint, or nil when there is none.
    func find(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) throws(StorageError) -> Int64? {
        encode(row, index)
        return index.slots.contains(where: { row[$0].isNull }) ? nil : try other(row, index)
    }

    /// Returns the same as `find`, for the values that `key` already encodes.
    private func other(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) throws(StorageError) -> Int64? {
        let prefix = key.bytes
        let cursor = try maps.cursor(index.map)
        var isThere = try key.withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
        while isThere, cursor.key.starts(with: prefix), cursor.key.count == prefix.count + 8 {
            let found = KeyBytes.lastKey(cursor.key)
            // Cut keys can be equal although the values differ, so the other row is read and compared.
            if found != row.key, try agrees(row, index, found) { return found }
            isThere = try cursor.next()
        }
        return nil
    }

    private func agrees(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap, _ found: Int64) throws(StorageError) -> Bool {
        if key.bytes.count < core.indexedBytes { return true }
        let map = core.layout.rows[row.entity]
        guard let record = try RowKey(found).withBytes({ bytes throws(StorageError) in try maps.get(map, bytes) }) else { return false }
        other.clear()
        try core.decode(found, record, map, into: other)
        let stored = other.row(0)
        for slot in index.slots where !Self.isSame(row[slot], stored[slot]) { return false }
        return true
    }

    /// Whether two cells of an attribute hold the same value. Texts and bytes are compared by content: their bits are an address.
    private static func isSame(_ a: Cell, _ b: Cell) -> Bool {
        if a.kind != b.kind { return false }
        switch a.kind {
        case .null: return true
        case .int, .real: return a.bits == b.bits
        case .text, .blob: return compareBytes(a.bytes, b.bytes) == 0
        }
    }

    func violation(_ row: borrowing RowView, _ constraint: ResolvedConstraint, _ found: Int64) -> StorageError {
        let name = core.schema.entities[constraint.declaredIn].name
        return StorageError(
            .uniqueConstraintViolated, "another object of \(name) has the same \(constraint.name)",
            details: .init(entity: name, constraint: constraint.name, keys: [found]))
    }

    private func linkKey(_ a: Int64, _ b: Int64) {
        key.reset()
        key.append(a)
        key.append(b)
    }

    /// Adds a pair, or changes the rank of an existing pair.
    func add(_ pair: LinkPair, _ link: (owner: Int, member: Int)) throws(StorageError) {
        for (map, first, second) in [(link.owner, pair.owner, pair.member), (link.member, pair.member, pair.owner)] {
            linkKey(first, second)
            try key.withBytes { bytes throws(StorageError) in
                try RowKey(pair.rank).withBytes { rank throws(StorageError) in try maps.put(map, bytes, rank) }
            }
        }
    }

    /// Removes a pair. Does nothing if it does not exist.
    func remove(_ pair: LinkPair, _ link: (owner: Int, member: Int)) throws(StorageError) {
        for (map, first, second) in [(link.owner, pair.owner, pair.member), (link.member, pair.member, pair.owner)] {
            linkKey(first, second)
            _ = try key.withBytes { bytes throws(StorageError) in try maps.delete(map, bytes) }
        }
    }
}
