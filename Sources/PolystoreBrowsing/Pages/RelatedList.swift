internal import PolystoreStorage

/// A limitation of a table to the members of a relationship that has no inverse, which no condition can express: `Entity/key/relationship`.
struct RelatedList {
    let text: String
    private let entity: String
    private let key: Int64
    private let relationship: String

    init?(_ request: PageRequest) {
        guard let text = request.text("of") else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let key = Int64(parts[1]) else { return nil }
        self.text = text
        entity = String(parts[0])
        self.key = key
        relationship = String(parts[2])
    }

    /// Returns the text of the limitation to the members of a relationship of an object.
    static func text(_ entity: String, _ key: Int64, _ relationship: String) -> String { "\(entity)/\(key)/\(relationship)" }

    var note: HTML {
        """
         <span class="soft">in</span> <span class="mono">\(relationship)</span> <span class="soft">of</span> \
        <a href="\(Address.object(entity, key))">\(entity) \(key)</a>
        """
    }

    func condition(_ reading: StoreReading) throws(StorageError) -> QueryPredicate {
        guard let index = reading.schema.index(of: entity) else { throw missing }
        let record = try reading.record(index, key, longest: 0)
        guard let description = reading.schema[record.entity].relationship(relationship) else { throw missing }
        let members = try RelatedMembers(description, of: record, reading, atMost: RelatedMembers.longestList)
        return .isIn(.path(.object), members.first.map { reading.constant($0.entity, $0.key) })
    }

    private var missing: StorageError {
        StorageError(.notFound, "the store has no relationship \"\(entity.excerpt()).\(relationship.excerpt())\"")
    }
}
