package import PolystoreStorage

/// Reads the contents of a store, or a part of them, in key order, entity by entity and link table by link table.
///
/// Under a mapping, the contents are those that the target of a transfer has: all entities, slots and link tables are those of its model.
package struct Contents {
    /// The session from which the contents are read.
    private let reader: ReadSession
    /// The schema of the contents.
    package let schema: Schema
    private let names: [UInt64]
    private let scope: TransferScope
    private let model: MappedModel?
    /// The attributes whose values may differ from those of the source; nil for all.
    private let accepted: Set<String>?

    /// Creates a reader of the contents that a session sees.
    package init(_ reader: ReadSession) { self.init(reader, TransferScope(reader.schema)) }

    /// Creates a reader of a part of the contents that a session sees.
    ///
    /// - Parameters:
    ///   - model: The mapped model; nil for that of the store.
    ///   - accepted: The attributes with another type that may have the nearest values, as paths in the store; nil for all, and for
    ///     nil in place of values that have none.
    init(_ reader: ReadSession, _ scope: TransferScope, _ model: MappedModel? = nil, accepting accepted: Set<String>? = []) {
        self.reader = reader
        self.scope = scope
        self.model = model
        self.accepted = accepted
        schema = model?.schema ?? reader.schema
        names = schema.entities.map { Digest.number(of: $0.name) }
    }

    /// Returns the entity of the store that an entity of the contents is.
    func origin(_ entity: EntityIndex) -> EntityIndex { model?.origins[entity] ?? entity }

    /// Returns the entity of the contents that an entity of the store is.
    private func entity(_ origin: EntityIndex) -> EntityIndex { model?.entities[origin] ?? origin }

    /// Returns the link table of the store that a link table of the contents is.
    private func origin(link: Int) -> MappedModel.Link { model?.links[link] ?? MappedModel.Link(index: link, isFlipped: false) }

    /// Returns the name that a link table has in the store.
    func sourceName(link: Int) -> String { reader.schema.links[origin(link: link).index].name }

    /// Returns whether the store has an object, and it is part of the contents.
    func includes(_ key: Int64, _ entity: EntityIndex) throws(StorageError) -> Bool {
        let origin = origin(entity), batch = RowBatch(capacity: 1)
        if !scope.contains(key, origin) { return false }
        try reader.rows(origin, keys: [key], into: batch)
        return batch.count > 0
    }

    /// Returns the path that a relationship has in the store.
    ///
    /// - Parameter position: The position among the relationships of the entity.
    func sourceName(_ entity: EntityIndex, relationship position: Int) -> String {
        let description = reader.schema[origin(entity)]
        return "\(description.name).\(description.relationships[position].relationship.name)"
    }

    /// Returns the number of rows of a hierarchy.
    package func count(_ root: EntityIndex) throws(StorageError) -> Int {
        if let keys = scope.keys(origin(root)) { return keys.count }
        let plan = QueryPlan.count(FetchPlan(reader.schema, origin(root)))
        guard case .int(let count)? = try reader.values(for: plan).first?.first else { return 0 }
        return Int(count)
    }

    /// Returns whether the store contains no rows.
    func isEmpty() throws(StorageError) -> Bool {
        for root in schema.roots where try count(root) > 0 { return false }
        return true
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
    package func rows(_ root: EntityIndex, _ body: (RowBatch) throws(StorageError) -> Void) throws(StorageError) -> Digest {
        var digest = Digest()
        try batches(root) { batch throws(StorageError) in
            add(batch, 0..<batch.count, to: &digest)
            try body(batch)
        }
        return digest
    }

    /// Adds rows of a batch to a digest.
    func add(_ batch: RowBatch, _ range: Range<Int>, to digest: inout Digest) {
        for index in range {
            let row = batch.row(index)
            digest.add(row, entityName: names[row.entity], slots: schema[row.entity].slots.count)
        }
    }

    /// Returns the rows of a batch whose keys follow a key; nil if there are none.
    func rows(of batch: RowBatch, after key: Int64?) -> RowBatch? {
        guard let key else { return batch.count > 0 ? batch : nil }
        guard let start = (0..<batch.count).first(where: { batch.key($0) > key }) else { return nil }
        return start == 0 ? batch : rows(of: batch, from: start)
    }

    /// Returns the rows of a batch from a position on.
    func rows(of batch: RowBatch, from start: Int) -> RowBatch { rows(of: batch, start..<batch.count) }

    /// Returns some rows of a batch.
    func rows(of batch: RowBatch, _ range: Range<Int>) -> RowBatch {
        let rest = RowBatch(capacity: range.count)
        copy(batch, range, to: rest)
        return rest
    }

    /// Appends some rows of a batch to another batch.
    func copy(_ batch: RowBatch, _ range: Range<Int>, to copy: RowBatch) {
        for index in range {
            let row = batch.row(index)
            copy.append(copying: row, slots: schema[row.entity].slots.count)
        }
    }

    /// Returns the size of the values of a batch.
    func bytes(of batch: RowBatch) -> Int {
        var bytes = 0
        for index in 0..<batch.count {
            let row = batch.row(index)
            for slot in schema[row.entity].slots.indices {
                bytes += row[slot].kind == .text || row[slot].kind == .blob ? Int(row[slot].length) : 8
            }
        }
        return bytes
    }

    /// Passes the rows of a hierarchy to `body` in batches, in key order.
    ///
    /// - Parameters:
    ///   - capacity: The maximum number of rows of a batch.
    ///   - bytes: The size of the texts and data of a batch from which it gets no further rows, unless the store lends its own memory.
    func batches(
        _ root: EntityIndex, capacity: Int = 8192, bytes: Int = 8 << 20, _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        guard let model, model.changesRows else { return try stored(origin(root), capacity, bytes, body) }
        let rows = MappedRows(model, accepting: accepted, capacity: capacity)
        try stored(origin(root), capacity, bytes) { batch throws(StorageError) in try body(try rows.convert(batch)) }
    }

    /// Passes the rows of a hierarchy of the store to `body`.
    private func stored(
        _ root: EntityIndex, _ capacity: Int, _ bytes: Int, _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        if !scope.isWhole(root) {
            return try scope.forEachChosenRow(root, reader, atMost: capacity, bytes: bytes) { batch throws(StorageError) in
                scope.cut(batch)
                try body(batch)
            }
        }
        var last: Int64?, unreadable: StorageError?
        do throws(StorageError) {
            try reader.attempt { () throws(StorageError) in try storedWhole(root, capacity, bytes, &last, &unreadable, body) }
        } catch {
            guard let unreadable else { throw error }
            throw naming(unreadable, root, after: last)
        }
    }

    /// Passes all rows of a hierarchy of the store to `body`.
    ///
    /// - Parameters:
    ///   - last: The key of the last row that was read.
    ///   - unreadable: The error if a row cannot be read.
    private func storedWhole(
        _ root: EntityIndex, _ capacity: Int, _ bytes: Int, _ last: inout Int64?, _ unreadable: inout StorageError?,
        _ body: (RowBatch) throws(StorageError) -> Void
    ) throws(StorageError) {
        let schema = reader.schema, cursor = try reader.cursor(for: FetchPlan(schema, root))
        let small = RowBatch(capacity: capacity), kept = RowBatch(capacity: capacity)
        func next() throws(StorageError) -> Bool {
            do throws(StorageError) { return try cursor.next(into: small) } catch {
                if error.code == .valueNotStorable { unreadable = error }
                throw error
            }
        }
        while try next() {
            last = small.count > 0 ? small.key(small.count - 1) : last
            scope.cut(small)
            // A store that returns single rows lends its own memory. These rows are collected, so that the target receives large batches.
            if small.count > 1, kept.count == 0 {
                try body(small)
                continue
            }
            for index in 0..<small.count {
                let row = small.row(index)
                kept.append(copying: row, slots: schema[row.entity].slots.count)
            }
            if kept.isFull || kept.copiedBytes > bytes {
                try body(kept)
                kept.clear()
            }
        }
        if kept.count > 0 { try body(kept) }
    }

    /// Returns the error with the key of the first unreadable row after a key, or the unchanged error if that row is not found.
    private func naming(_ error: StorageError, _ root: EntityIndex, after last: Int64?) -> StorageError {
        guard error.details.keys.isEmpty, let keys = try? keys(root, after: last), !keys.isEmpty else { return error }
        func isReadable(_ keys: ArraySlice<Int64>) -> Bool {
            (try? reader.attempt { () throws(StorageError) in try reader.rows(root, keys: Array(keys), into: RowBatch()) }) != nil
        }
        var first = keys.startIndex, end = keys.endIndex
        if isReadable(keys[first..<end]) { return error }
        while end - first > 1 {
            let middle = (first + end) / 2
            if isReadable(keys[first..<middle]) { first = middle } else { end = middle }
        }
        var details = error.details
        details.keys = [keys[first]]
        return StorageError(
            error.code, "\(error.message) (\(reader.schema.entities[root].name) \(keys[first]))", details: details, cause: error)
    }

    /// Returns as many keys after a key as a store may read at once.
    private func keys(_ root: EntityIndex, after last: Int64?) throws(StorageError) -> [Int64] {
        let cursor = try reader.cursor(for: FetchPlan(reader.schema, root, fields: .keysOnly)), batch = RowBatch(capacity: 8192)
        var keys: [Int64] = []
        while keys.count < 8192, try cursor.next(into: batch) {
            for index in 0..<batch.count where last.map({ batch.key(index) > $0 }) ?? true { keys.append(batch.key(index)) }
        }
        return keys
    }

    /// Passes the keys of the copied objects of an entity to `body`, or of its hierarchy if that is not copied whole, in ascending blocks.
    func keyBlocks(_ entity: EntityIndex, _ size: Int, _ body: ([Int64]) throws(StorageError) -> Void) throws(StorageError) {
        let origin = origin(entity)
        if let keys = scope.keys(reader.schema[origin].root) { return try keys.forEach({ size }, body) }
        let cursor = try reader.cursor(for: FetchPlan(reader.schema, origin, fields: .keysOnly)), batch = RowBatch(capacity: size)
        while try cursor.next(into: batch) { try body((0..<batch.count).map(batch.key)) }
    }

    /// Returns the entities of the objects of a hierarchy with the given keys.
    func entities(of keys: [Int64], _ root: EntityIndex) throws(StorageError) -> [Int64: EntityIndex] {
        let batch = RowBatch(capacity: keys.count)
        do throws(StorageError) {
            try reader.attempt { () throws(StorageError) in try reader.rows(origin(root), keys: keys, into: batch) }
        } catch {
            if error.code != .valueNotStorable { throw error }
            return try entities(ofUnreadable: keys.sorted(), root)
        }
        return Dictionary((0..<batch.count).map { (batch.key($0), entity(batch.row($0).entity)) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the entities of objects, some of which have values that cannot be read.
    private func entities(ofUnreadable keys: [Int64], _ root: EntityIndex) throws(StorageError) -> [Int64: EntityIndex] {
        let cursor = try reader.cursor(for: FetchPlan(reader.schema, origin(root), keys: keys, fields: .keysOnly))
        let batch = RowBatch(capacity: keys.count)
        var found: [Int64: EntityIndex] = [:]
        while try cursor.next(into: batch) {
            for index in 0..<batch.count { found[batch.key(index)] = entity(batch.row(index).entity) }
        }
        return found
    }

    /// Passes the pairs of a link table to `body` and returns their digest.
    package func links(_ link: Int, _ body: ([LinkPair]) throws(StorageError) -> Void) throws(StorageError) -> Digest {
        var digest = LinkDigest(schema.links[link])
        try pairs(link) { pairs throws(StorageError) in
            for pair in pairs { digest.add(pair) }
            try body(pairs)
        }
        return digest.digest
    }

    /// Passes the pairs of a link table to `body`, ordered by owner and rank.
    ///
    /// - Parameter keys: The keys of the owners; nil for all owners.
    /// - Returns: The number of pairs that are left out because only one of their objects is copied.
    @discardableResult
    func pairs(
        _ link: Int, owners keys: [Int64]? = nil, _ body: ([LinkPair]) throws(StorageError) -> Void
    ) throws(StorageError) -> Int {
        let description = schema.links[link], origin = origin(link: link)
        let owner = self.origin(description.owner), member = self.origin(description.member)
        var omitted = 0
        try reader.links(origin.index, side: origin.isFlipped ? .member : .owner, keys: keys) { stored throws(StorageError) in
            let pairs = origin.pairs(stored)
            if scope.isAll { return try body(pairs) }
            let copied = pairs.filter { pair in
                let hasOwner = scope.contains(pair.owner, owner)
                if hasOwner, scope.willExist(pair.member, member) { return true }
                if hasOwner || scope.contains(pair.member, member) { omitted += 1 }
                return false
            }
            if !copied.isEmpty { try body(copied) }
        }
        return omitted
    }

    /// Returns the pairs of copied members whose owners are not copied.
    func pairsOfOtherOwners(_ link: Int, members: [Int64]) throws(StorageError) -> [LinkPair] {
        let owner = origin(schema.links[link].owner), origin = origin(link: link)
        var found: [LinkPair] = []
        try reader.links(origin.index, side: origin.isFlipped ? .owner : .member, keys: members) { pairs throws(StorageError) in
            found += origin.pairs(pairs).filter { !scope.contains($0.owner, owner) }
        }
        return found.sorted { ($0.owner, $0.rank, $0.member) < ($1.owner, $1.rank, $1.member) }
    }

    /// Raises the key counters of the target so that it gives no key that an object of the source had.
    func raiseKeys(of writer: WriteSession) throws(StorageError) {
        for root in schema.roots {
            if let next = try reader.nextKey(origin(root)), next > 1 { try writer.raiseKeys(root, above: next - 1) }
        }
    }

    /// Returns whether all objects of an entity's hierarchy are copied.
    func isWhole(_ entity: EntityIndex) -> Bool { scope.isWhole(origin(schema[entity].root)) }

    /// Returns whether an object of the source is copied.
    func isCopied(_ key: Int64, _ entity: EntityIndex) -> Bool { scope.contains(key, origin(entity)) }

    /// Returns whether an object is in the target after the copy, provided that its hierarchy is not copied whole.
    func isInTarget(_ key: Int64, _ entity: EntityIndex) -> Bool { scope.willExist(key, origin(entity)) }

    /// Returns the digest of each hierarchy and link table.
    package func digests() throws(StorageError) -> [TransferItem] { try digests(nil) }

    /// Returns the digest of each hierarchy and link table, and counts the rows.
    func digests(_ progress: WorkProgress?) throws(StorageError) -> [TransferItem] {
        var items: [TransferItem] = []
        for root in schema.roots {
            let name = schema.entities[root].name
            items.append(TransferItem(name: name, digest: try rows(root) { progress?.add($0.count, of: name) }))
        }
        for link in schema.links.indices {
            let name = schema.links[link].name
            items.append(TransferItem(name: name, digest: try links(link) { progress?.addFurther($0.count, of: name) }))
        }
        return items
    }
}
