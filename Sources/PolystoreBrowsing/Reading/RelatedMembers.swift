internal import PolystoreStorage

/// The objects of a to-many relationship of an object: their number, and the first of them.
struct RelatedMembers {
    let relationship: Relationship
    let destination: EntityIndex
    private(set) var count = 0
    private(set) var first: [ObjectRecord] = []

    static let shown = 12
    /// The number of members that a table without a condition can be limited to.
    static let longestList = 5000

    init(
        _ relationship: RelationshipDescription, of record: ObjectRecord, _ reading: StoreReading, atMost most: Int = shown
    ) throws(StorageError) {
        self.relationship = relationship.relationship
        destination = relationship.destination
        switch relationship.place {
        case .slot: return
        case .inverseSlot:
            guard let condition = Self.condition(relationship, of: record, reading) else { return }
            let plan = try reading.plan(relationship.destination, condition, limit: most)
            count = try reading.count(plan)
            first = count == 0 ? [] : try reading.records(plan, longest: StoreReading.longestLabel)
        case .link(let link, let side): try read(link, side, record.key, reading, most)
        case .orderedInverseSlot(_, let link): try read(link, .owner, record.key, reading, most)
        }
    }

    private mutating func read(_ link: Int, _ side: LinkSide, _ key: Int64, _ reading: StoreReading, _ most: Int) throws(StorageError) {
        var count = 0, keys: [Int64] = []
        try reading.session.links(link, side: side, keys: [key]) { pairs throws(StorageError) in
            count += pairs.count
            for pair in pairs where keys.count < most { keys.append(side == .owner ? pair.member : pair.owner) }
        }
        self.count = count
        let records = try reading.records(destination, keys: keys)
        first = keys.compactMap { records[$0] }
    }

    /// Returns the condition that the members satisfy; nil for a relationship without an inverse.
    static func condition(_ relationship: RelationshipDescription, of record: ObjectRecord, _ reading: StoreReading) -> QueryPredicate? {
        guard let name = relationship.relationship.inverse,
            let inverse = reading.schema[relationship.destination].relationship(name)?.relationship
        else { return nil }
        let constant = QueryExpression.value(reading.constant(record.entity, record.key)), path = PropertyPath([name])
        return inverse.cardinality == .toOne
            ? .compare(.path(path), .equal, constant) : .related(.any, path, .compare(.path(.object), .equal, constant))
    }
}
