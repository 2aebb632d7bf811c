internal import PolystoreStorage

/// Keeps the indexes and link maps of a write transaction.
final class IndexWriter {
    private let core: KeyValueCore
    private let maps: any OrderedWriter
    private var key = KeyBytes()
    private let other = RowBatch(capacity: 1)

    init(_ core: KeyValueCore, _ maps: any OrderedWriter) {
        self.core = core
        self.maps = maps
    }

    /// The bytes of a row's values in an index, cut to the engine's limit, without the row's key.
    private func encode(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) {
        key.reset()
        for slot in index.slots { key.append(row[slot]) }
        key.truncate(to: core.indexedBytes)
    }

    /// The key of a row's entry in an index.
    func entry(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) -> [UInt8] {
        encode(row, index)
        key.append(row.key)
        return key.bytes
    }

    /// Removes a row's entries.
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

    /// Looks for other rows with the same values under a unique constraint, before anything of a row is written.
    ///
    /// - Throws: `uniqueConstraintViolated`.
    func check(_ row: borrowing RowView, _ indexes: [KeyValueLayout.IndexMap]) throws(StorageError) {
        for index in indexes {
            guard let constraint = index.constraint, !index.slots.contains(where: { row[$0].isNull }) else { continue }
            encode(row, index)
            if let found = try other(row, index) { throw violation(row, constraint, found) }
        }
    }

    /// Adds a row's entries, which were checked.
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

    /// The key of the row that has the same values under a unique constraint, other than the given row; nil when there is none.
    func find(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) throws(StorageError) -> Int64? {
        encode(row, index)
        return index.slots.contains(where: { row[$0].isNull }) ? nil : try other(row, index)
    }

    /// As `find`, for the values that are encoded in `key`.
    private func other(_ row: borrowing RowView, _ index: KeyValueLayout.IndexMap) throws(StorageError) -> Int64? {
        let prefix = key.bytes
        let cursor = try maps.cursor(index.map)
        var isThere = try key.withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
        while isThere, cursor.key.starts(with: prefix), cursor.key.count == prefix.count + 8 {
            let found = KeyBytes.lastKey(cursor.key)
            // Keys that were cut agree without their values agreeing: the other row decides.
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

    /// Whether two cells of an attribute hold one value. The bits of texts and bytes are where they lie.
    private static func isSame(_ a: Cell, _ b: Cell) -> Bool {
        if a.kind != b.kind { return false }
        switch a.kind {
        case .null: return true
        case .int, .real: return a.bits == b.bits
        case .text, .blob: return compareBytes(a.bytes, b.bytes) == 0
        }
    }

    func violation(_ row: borrowing RowView, _ constraint: ResolvedConstraint, _ found: Int64) -> StorageError {
        let name = core.schema.entities[row.entity].name
        return StorageError(
            .uniqueConstraintViolated, "another object of \(name) has the same \(constraint.name)",
            details: .init(entity: name, constraint: constraint.name, keys: [found]))
    }

    private func linkKey(_ a: Int64, _ b: Int64) {
        key.reset()
        key.append(a)
        key.append(b)
    }

    /// Adds a pair, or gives it a new rank.
    func add(_ pair: Link, _ link: (owner: Int, member: Int)) throws(StorageError) {
        for (map, first, second) in [(link.owner, pair.owner, pair.member), (link.member, pair.member, pair.owner)] {
            linkKey(first, second)
            try key.withBytes { bytes throws(StorageError) in
                try RowKey(pair.rank).withBytes { rank throws(StorageError) in try maps.put(map, bytes, rank) }
            }
        }
    }

    /// Removes a pair; one that is not there does nothing.
    func remove(_ pair: Link, _ link: (owner: Int, member: Int)) throws(StorageError) {
        for (map, first, second) in [(link.owner, pair.owner, pair.member), (link.member, pair.member, pair.owner)] {
            linkKey(first, second)
            _ = try key.withBytes { bytes throws(StorageError) in try maps.delete(map, bytes) }
        }
    }
}
