internal import PolystoreObjects

/// The members of a to-many relationship of one object at the last read.
struct MemberWatch {
    /// The stored name of the relationship.
    let name: String
    private let entity: EntityIndex
    private let position: Int
    private let relationship: RelationshipDescription
    private var keys: [Int64]

    /// Returns all to-many relationships of an object.
    static func all(of object: ManagedObject, _ context: ObjectContext) throws(StorageError) -> [MemberWatch] {
        var watches: [MemberWatch] = []
        for (position, relationship) in object.description.relationships.enumerated() {
            if case .slot = relationship.place { continue }
            var watch = MemberWatch(
                name: relationship.relationship.name, entity: Int(object._entity), position: position, relationship: relationship, keys: [])
            // Loaded members are what the observer sees, regardless of later commits.
            if context.tracker != nil || object._collections[position] != nil {
                watch.keys = try watch.members(object, context)
            } else {
                watch.keys = try context.withReader(Int(object._store)) { reader throws(StorageError) in
                    try watch.members(object._key, reader)
                }
            }
            watches.append(watch)
        }
        return watches
    }

    /// Returns whether commits may have changed the members.
    func isConcerned(by batch: CommitBatch, _ store: Int, _ schema: Schema) -> Bool {
        relationship.mayHaveOtherMembers(by: batch, store, schema)
    }

    /// Reads the members again. Returns whether they differ from before.
    mutating func hasChanged(_ key: Int64, _ reader: ReadSession) throws(StorageError) -> Bool {
        let now = try members(key, reader)
        defer { keys = now }
        return now != keys
    }

    /// Returns whether a transaction has other members than before.
    mutating func hasChanged(_ object: ManagedObject, _ context: ObjectContext) throws(StorageError) -> Bool {
        let now = try members(object, context)
        defer { keys = now }
        return now != keys
    }

    private func members(_ object: ManagedObject, _ context: ObjectContext) throws(StorageError) -> [Int64] {
        let keys = try context.state(object, position).keys
        return isOrdered ? keys : keys.sorted()
    }

    private func members(_ key: Int64, _ reader: ReadSession) throws(StorageError) -> [Int64] {
        var found: [Int64] = []
        switch relationship.place {
        case .orderedInverseSlot(_, let link),
            .link(let link, side: .owner) where isOrdered:
            try reader.links(link, side: .owner, keys: [key]) { pairs throws(StorageError) in found += pairs.map(\.member) }
            return found
        case .slot, .inverseSlot, .link:
            try MemberRows(reader).forEach(entity, position, of: key) { row in
                found.append(row.key)
                return true
            }
            return found.sorted()
        }
    }

    private var isOrdered: Bool { relationship.relationship.cardinality == .toManyOrdered }
}

extension RelationshipDescription {
    /// Returns whether commits may have changed the members of a to-many relationship of any object.
    func mayHaveOtherMembers(by batch: CommitBatch, _ store: Int, _ schema: Schema) -> Bool {
        if batch.unknown.contains(store) { return true }
        let root = schema[destination].root
        let slot: Int
        switch place {
        case .slot: return false
        case .link(let link, _):
            return batch.links[store]?.contains(link) == true
                || batch.runs(in: store).contains { schema[$0.entity].root == root && $0.kind == .delete }
        case .orderedInverseSlot(let inverse, let link):
            if batch.links[store]?.contains(link) == true { return true }
            slot = inverse
        case .inverseSlot(let inverse): slot = inverse
        }
        return batch.runs(in: store).contains { run in
            if schema[run.entity].root != root { return false }
            if case .update(let mask) = run.kind { return mask.contains(slot) }
            if case .links = run.kind { return false }
            return true
        }
    }
}
