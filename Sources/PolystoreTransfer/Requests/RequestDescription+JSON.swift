package import PolystoreStorage

extension RequestDescription {
    /// Reads a request in JSON: `{"entity": "Person", "where": "age >= $min", "arguments": {"min": 18}, "orderBy": ["-age", "name"]}`.
    ///
    /// - Throws: `invalidPredicate` for a text of another form, for an unknown member, with the most similar one, and for members that
    ///   exclude each other.
    package init(json: String) throws(StorageError) {
        let fields = try JSONFields(json, "a request", known: Member.allCases.map(\.rawValue), code: .invalidPredicate)
        func name(_ member: Member) -> String { member.rawValue }
        guard let entity = try fields.string(name(.entity)) else { throw fields.wrong(name(.entity), "the name of an entity") }
        self.init(entity)
        condition = try fields.string(name(.where))
        for member in try fields.object(name(.arguments)) { arguments[member.name] = try PredicateArgument(member.value, member.name) }
        order = try fields.strings(name(.orderBy)) ?? []
        limit = try fields.count(name(.limit))
        offset = try fields.count(name(.offset))
        outputs = try fields.strings(name(.select))
        groupKeys = try fields.strings(name(.groupBy))
        groupCondition = try fields.string(name(.having))
        isDistinct = try fields.bool(name(.distinct))
        isCount = try fields.bool(name(.count))
        for member in Self.aggregateMembers { aggregates[member] = try fields.string(name(member)) }
        prefetched = try fields.strings(name(.prefetch)) ?? []
        if let contradiction = contradiction() { throw StorageError(.invalidPredicate, contradiction) }
    }

    /// The request in JSON.
    package var json: String {
        var members: [(name: String, value: String)] = []
        func add(_ member: Member, _ value: String?) { if let value { members.append((member.rawValue, value)) } }
        add(.entity, JSONText.string(entity))
        add(.where, condition.map(JSONText.string))
        let sorted = arguments.sorted { $0.key < $1.key }
        add(.arguments, sorted.isEmpty ? nil : JSONText.object(sorted.map { ($0.key, $0.value.json) }))
        add(.orderBy, order.isEmpty ? nil : JSONText.strings(order))
        add(.limit, limit.map(String.init))
        add(.offset, offset.map(String.init))
        add(.select, outputs.map(JSONText.strings))
        add(.groupBy, groupKeys.map(JSONText.strings))
        add(.having, groupCondition.map(JSONText.string))
        add(.distinct, isDistinct ? "true" : nil)
        add(.count, isCount ? "true" : nil)
        for member in Self.aggregateMembers { add(member, aggregates[member].map(JSONText.string)) }
        add(.prefetch, prefetched.isEmpty ? nil : JSONText.strings(prefetched))
        return JSONText.object(members)
    }
}
