/// The destination rows of to-many relationships, read for many objects at once and kept while a batch is examined.
struct StoredMembers {
    private struct Relationship: Hashable {
        let entity: EntityIndex
        let position: Int
    }

    /// The destination rows of an object, as positions in a batch.
    struct Rows {
        let batch: RowBatch
        let positions: [Int]
    }

    /// The maximum number of objects whose destination rows are read together, and the maximum number of these rows and of their bytes.
    /// Fewer objects are read together if they have many rows.
    private static let mostOwners = 256, mostRows = 32_768, mostBytes = 16 << 20

    private let schema: Schema
    private let fields: [EntityIndex: SlotMask]?
    private let count: ResidualCount?
    private var known: [Relationship: [Int64: Rows]] = [:]
    /// The number of objects whose rows are read together. It is 1 for relationships with so many destinations that the rows of each object
    /// are read separately.
    private var ownersAtOnce: [Relationship: Int] = [:]

    /// Creates an empty collection of rows.
    ///
    /// - Parameters:
    ///   - fields: The slots that are read in the rows of each hierarchy, or nil for all.
    ///   - count: Counts the rows as related ones.
    init(_ schema: Schema, _ fields: [EntityIndex: SlotMask]?, counting count: ResidualCount?) {
        self.schema = schema
        self.fields = fields
        self.count = count
    }

    /// Discards all rows.
    mutating func forget() { known.removeAll(keepingCapacity: true) }

    /// Returns whether nothing has to be read for an object.
    func areKnown(_ entity: EntityIndex, _ relationship: Int, of key: Int64) -> Bool {
        let relationship = Relationship(entity: entity, position: relationship)
        return ownersAtOnce[relationship] == 1 || known[relationship]?[key] != nil
    }

    /// Returns the rows of an object, or nil if they were not read.
    func rows(_ entity: EntityIndex, _ relationship: Int, of key: Int64) -> Rows? {
        known[Relationship(entity: entity, position: relationship)]?[key]
    }

    /// Reads the rows of an object together with those of other objects that are being examined.
    ///
    /// - Returns: The rows, or nil if there are too many.
    mutating func read(
        _ entity: EntityIndex, _ position: Int, of key: Int64, beside batches: [RowBatch], _ reader: any StorageReader
    ) throws(StorageError) -> RowBatch? {
        let relationship = Relationship(entity: entity, position: position), description = schema[entity].relationships[position]
        let owners = owners(relationship, key, batches), rows: RowBatch?
        var found: [Int64: [Int]] = [:]
        switch description.place {
        case .slot: rows = RowBatch(capacity: 1)
        case .inverseSlot(let slot), .orderedInverseSlot(let slot, _):
            rows = try referring(description, slot, owners, reader)
            if let rows { for index in 0..<rows.count { found[rows.row(index)[slot].int, default: []].append(index) } }
        case .link(let link, let side):
            guard let pairs = try pairs(link, side, owners, reader) else {
                rows = nil
                break
            }
            let all = RowBatch(capacity: 256), keys = Set(pairs.map(\.member)).sorted(), root = schema[description.destination].root
            try reader.rows(root, keys: keys, fields?[root], schema, into: all)
            count?.related += all.count
            let positions = Dictionary((0..<all.count).map { (all.key($0), $0) }) { first, _ in first }
            for pair in pairs { if let index = positions[pair.member] { found[pair.owner, default: []].append(index) } }
            rows = all
        }
        guard let rows else {
            ownersAtOnce[relationship] = max(owners.count / 8, 1)
            return nil
        }
        for owner in owners { known[relationship, default: [:]][owner] = Rows(batch: rows, positions: found[owner] ?? []) }
        return rows
    }

    /// Returns the primary key of an object together with those of other objects of its hierarchy that are being examined.
    private func owners(_ relationship: Relationship, _ key: Int64, _ batches: [RowBatch]) -> [Int64] {
        var owners: Set<Int64> = [key]
        let root = schema[relationship.entity].root
        for batch in batches {
            for index in 0..<batch.count where schema[batch.row(index).entity].root == root {
                if owners.count >= ownersAtOnce[relationship] ?? Self.mostOwners { return owners.sorted() }
                if known[relationship]?[batch.key(index)] == nil { owners.insert(batch.key(index)) }
            }
        }
        return owners.sorted()
    }

    /// Returns the rows that reference objects, or nil if there are too many.
    private func referring(
        _ description: RelationshipDescription, _ slot: Int, _ owners: [Int64], _ reader: any StorageReader
    ) throws(StorageError) -> RowBatch? {
        let destination = description.destination
        let path = CheckedPath(
            steps: [], entity: destination, leaf: .slot(slot), type: .int64, text: description.relationship.name)
        var plan = FetchPlan(schema, destination, where: .isIn(.path(path), owners.map(Value.int)))
        if let mask = fields?[schema[destination].root] { plan.fields = .some(mask) }
        let rows = RowBatch(capacity: 256), batch = RowBatch(), cursor = try ResidualReader(reader, schema: schema).cursor(for: plan)
        while try cursor.next(into: batch) {
            count?.related += batch.count
            for index in 0..<batch.count {
                let row = batch.row(index)
                rows.append(copying: row, slots: schema[row.entity].slots.count)
            }
            if rows.count > Self.mostRows || rows.copiedBytes > Self.mostBytes { return nil }
        }
        return rows
    }

    /// Returns the pairs of objects, with the object itself as the owner, or nil if there are too many.
    private func pairs(
        _ link: Int, _ side: LinkSide, _ owners: [Int64], _ reader: any StorageReader
    ) throws(StorageError) -> [(owner: Int64, member: Int64)]? {
        var pairs: [(owner: Int64, member: Int64)] = []
        try reader.links(link, side: side, keys: owners) { chunk throws(StorageError) in
            if pairs.count > Self.mostRows { return }
            for pair in chunk { pairs.append(side == .owner ? (pair.owner, pair.member) : (pair.member, pair.owner)) }
        }
        return pairs.count > Self.mostRows ? nil : pairs
    }
}

extension StorageReader {
    /// Appends the rows with primary keys of a hierarchy, of which only some slots are needed.
    func rows(
        _ root: EntityIndex, keys: [Int64], _ slots: SlotMask?, _ schema: Schema, into rows: RowBatch
    ) throws(StorageError) {
        guard let slots, keys.count > 1, schema[root].family.contains(where: { schema[$0].hasLongSlots(besides: slots) }) else {
            return try self.rows(root, keys: keys, into: rows)
        }
        let path = CheckedPath(steps: [], entity: root, leaf: .key, type: .int64, text: "SELF")
        let plan = FetchPlan(schema, root, where: .isIn(.path(path), keys.map(Value.int)), fields: .some(slots))
        guard pushdown(of: plan) == .exact else { return try self.rows(root, keys: keys, into: rows) }
        let batch = RowBatch(), cursor = try cursor(for: plan)
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                rows.append(copying: row, slots: schema[row.entity].slots.count)
            }
        }
    }
}

extension EntityDescription {
    /// Returns whether the slots outside a set include attributes of variable length.
    fileprivate func hasLongSlots(besides slots: SlotMask) -> Bool {
        self.slots.indices.contains { slot in
            let type = self.slots[slot].type
            return (type.isText || type == .data) && self.slots[slot].attribute != nil && !slots.contains(slot)
        }
    }
}
