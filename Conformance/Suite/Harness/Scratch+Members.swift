internal import PolystoreStorage

// Relationships by their names in the model, wherever a store keeps their keys.
extension Scratch {
    private func description(_ entity: String, _ relationship: String) throws -> RelationshipDescription {
        if let found = schema[try self.entity(entity)].relationship(relationship) { return found }
        throw StorageError(.notFound, "the suite has no relationship \(entity).\(relationship)")
    }

    /// Returns the destinations of a relationship for each object of an entity: in the relationship's order if it is ordered, otherwise by
    /// key. Objects without destinations are left out.
    func members(_ entity: String, _ relationship: String) throws -> [Int64: [Int64]] {
        let description = try description(entity, relationship), destination = schema.entities[description.destination].name
        switch description.place {
        case .slot: return try references(entity, relationship).mapValues { [$0] }
        case .inverseSlot: return grouped(try references(destination, description.relationship.inverse ?? ""))
        case .link(let link, .owner): return Dictionary(grouping: try pairs(link), by: \.owner).mapValues { $0.map(\.member) }
        case .link(let link, .member): return Dictionary(grouping: try pairs(link), by: \.member).mapValues { $0.map(\.owner).sorted() }
        case .orderedInverseSlot(_, let link):
            let members = Dictionary(grouping: try pairs(link), by: \.owner).mapValues { $0.map(\.member) }
            if members.mapValues({ $0.sorted() }) == grouped(try references(destination, description.relationship.inverse ?? "")) {
                return members
            }
            throw StorageError(.corrupted, "the order of \(entity).\(relationship) has other members than the slots of its inverse")
        }
    }

    private func references(_ entity: String, _ relationship: String) throws -> [Int64: Int64] {
        var keys: [Int64: Int64] = [:]
        for row in try fetch(ObjectRequest(entity)) { if case .int(let key)? = row.values[relationship] { keys[row.key] = key } }
        return keys
    }

    private func grouped(_ references: [Int64: Int64]) -> [Int64: [Int64]] {
        Dictionary(grouping: references, by: \.value).mapValues { $0.map(\.key).sorted() }
    }

    /// Returns all pairs of a link table, by owner and rank.
    private func pairs(_ link: Int) throws -> [LinkPair] {
        let pairs = try links(schema.links[link].name, .owner, nil)
        return pairs.sorted { ($0.owner, $0.rank, $0.member) < ($1.owner, $1.rank, $1.member) }
    }

    /// Connects objects of an entity with others by a relationship, and writes each side that a store keeps.
    func connect(_ entity: String, _ relationship: String, _ members: [Int64: [Int64]]) throws {
        let description = try description(entity, relationship), destination = schema.entities[description.destination].name
        let list = members.sorted { $0.key < $1.key }
        func backwards() throws {
            let pairs = list.flatMap { owner, members in members.map { ($0, owner) } }
            try refer(destination, description.relationship.inverse ?? "", pairs)
        }
        func add(_ link: Int, _ side: LinkSide) throws {
            let pairs = list.flatMap { owner, members in
                members.enumerated().map { rank, member in
                    let place = schema.links[link].isOrdered ? Int64(rank + 1) << 20 : 0
                    return side == .owner
                        ? LinkPair(owner: owner, rank: place, member: member) : LinkPair(owner: member, rank: place, member: owner)
                }
            }
            try write { try $0.apply(ChangeSet(links: [LinkChanges(link: link, added: pairs)])) }
        }
        switch description.place {
        case .slot: try refer(entity, relationship, list.flatMap { owner, members in members.map { (owner, $0) } })
        case .inverseSlot: try backwards()
        case .link(let link, let side): try add(link, side)
        case .orderedInverseSlot(_, let link):
            try backwards()
            try add(link, .owner)
        }
    }

    /// Sets to-one relationships of rows, which may belong to any entity of the hierarchy.
    private func refer(_ entity: String, _ relationship: String, _ pairs: [(Int64, Int64)]) throws {
        let entities = Dictionary(uniqueKeysWithValues: try fetch(ObjectRequest(entity)).map { ($0.key, $0.entity) })
        for (name, members) in Dictionary(grouping: pairs, by: { entities[$0.0] ?? entity }) {
            try write { writer in
                let rows = members.map { (key: $0.0, version: Int64(0), values: [relationship: Value.int($0.1)]) }
                try writer.apply(ChangeSet(entities: [updates(name, rows)]))
            }
        }
    }
}
