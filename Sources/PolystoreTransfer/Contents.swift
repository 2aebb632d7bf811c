package import PolystoreStorage

/// Reads all contents of a store in key order, entity by entity and link table by link table.
package struct Contents {
    /// The session from which the contents are read.
    private let reader: ReadSession
    /// The schema of the store.
    package var schema: Schema { reader.schema }
    private let names: [UInt64]

    /// Creates a reader of the contents that a session sees.
    package init(_ reader: ReadSession) {
        self.reader = reader
        names = reader.schema.entities.map { Digest.number(of: $0.name) }
    }

    /// Returns the number of rows of a hierarchy.
    package func count(_ root: EntityIndex) throws(StorageError) -> Int {
        let plan = QueryPlan.count(FetchPlan(schema, root))
        guard case .int(let count)? = try reader.values(for: plan).first?.first else { return 0 }
        return Int(count)
    }

    /// Checks that the store contains no rows.
    ///
    /// - Throws: `alreadyExists`, which names the first entity with rows.
    package func checkIsEmpty() throws(StorageError) {
        for root in schema.roots where try count(root) > 0 {
            let name = schema.entities[root].name
            throw StorageError(
                .alreadyExists, "the target is not empty: it contains objects of \(name); choose an empty target",
                details: .init(entity: name))
        }
    }

    /// Passes the rows of a hierarchy to `body` in batches, in key order, and returns their digest.
    package func rows(
        _ root: EntityIndex, capacity: Int = 8192, _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) -> Digest {
        var digest = Digest()
        let cursor = try reader.cursor(for: FetchPlan(schema, root))
        let small = RowBatch(capacity: capacity), kept = RowBatch(capacity: capacity)
        var last: Int64?
        func next() throws(StorageError) -> Bool {
            do throws(StorageError) { return try cursor.next(into: small) } catch  where error.code == .valueNotStorable {
                throw naming(error, root, after: last)
            }
        }
        while try next() {
            last = small.count > 0 ? small.key(small.count - 1) : last
            for index in 0..<small.count {
                let row = small.row(index)
                digest.add(row, entityName: names[row.entity], slots: schema[row.entity].slots.count)
            }
            // A store that returns single rows lends its own memory. These rows are collected, so that the target receives large batches.
            if small.count > 1, kept.count == 0 {
                try body(small)
                continue
            }
            for index in 0..<small.count {
                let row = small.row(index)
                kept.append(copying: row, slots: schema[row.entity].slots.count)
            }
            if kept.isFull || kept.copiedBytes > 8 << 20 {
                try body(kept)
                kept.clear()
            }
        }
        if kept.count > 0 { try body(kept) }
        return digest
    }

    /// Returns the error with the key of the first unreadable row after a key, or the unchanged error if that row is not found.
    private func naming(_ error: StorageError, _ root: EntityIndex, after last: Int64?) -> StorageError {
        guard error.details.keys.isEmpty, let keys = try? keys(root, after: last), !keys.isEmpty else { return error }
        func isReadable(_ keys: ArraySlice<Int64>) -> Bool { (try? reader.rows(root, keys: Array(keys), into: RowBatch())) != nil }
        var first = keys.startIndex, end = keys.endIndex
        if isReadable(keys[first..<end]) { return error }
        while end - first > 1 {
            let middle = (first + end) / 2
            if isReadable(keys[first..<middle]) { first = middle } else { end = middle }
        }
        var details = error.details
        details.keys = [keys[first]]
        return StorageError(
            error.code, "\(error.message) (\(schema.entities[root].name) \(keys[first]))", details: details, cause: error)
    }

    /// Returns as many keys after a key as a store may read at once.
    private func keys(_ root: EntityIndex, after last: Int64?) throws(StorageError) -> [Int64] {
        let cursor = try reader.cursor(for: FetchPlan(schema, root, fields: .keysOnly)), batch = RowBatch(capacity: 8192)
        var keys: [Int64] = []
        while keys.count < 8192, try cursor.next(into: batch) {
            for index in 0..<batch.count where last.map({ batch.key(index) > $0 }) ?? true { keys.append(batch.key(index)) }
        }
        return keys
    }

    /// Passes the pairs of a link table to `body` and returns their digest.
    package func links(_ link: Int, _ body: ([LinkPair]) throws(StorageError) -> Void) throws(StorageError) -> Digest {
        var digest = Digest()
        var owner: Int64?, position = 0
        let isOrdered = schema.links[link].isOrdered
        try reader.links(link, side: .owner, keys: nil) { pairs throws(StorageError) in
            for pair in pairs {
                position = pair.owner == owner ? position + 1 : 0
                owner = pair.owner
                digest.add(pair, position: isOrdered ? position : 0)
            }
            try body(Array(pairs))
        }
        return digest
    }

    /// Returns the digest of each hierarchy and link table.
    package func digests() throws(StorageError) -> [TransferItem] {
        var items: [TransferItem] = []
        for root in schema.roots { items.append(TransferItem(name: schema.entities[root].name, digest: try rows(root) { _ in })) }
        for link in schema.links.indices { items.append(TransferItem(name: schema.links[link].name, digest: try links(link) { _ in })) }
        return items
    }
}
