internal import PolystoreStorage

/// A rule about the number of destinations of a relationship.
struct RelationshipRule {
    /// The entity whose objects have the relationship.
    let entity: EntityIndex
    let relationship: String
    /// The rule as the end of a sentence that begins with the relationship.
    let sentence: String
    /// The condition under which an object violates the rule.
    private let violation: QueryPredicate

    /// Creates the rule of a relationship; nil if it has none.
    init?(_ relationship: Relationship, of entity: EntityIndex) {
        self.entity = entity
        self.relationship = relationship.name
        let path = PropertyPath([relationship.name])
        if relationship.cardinality == .toOne {
            if relationship.isOptional { return nil }
            violation = .compare(.path(path), .equal, .value(.null))
            sentence = "is required but nil"
            return
        }
        let count = QueryExpression.related(RelatedAggregate(.count, path)), least = relationship.leastMembers
        let tooFew = QueryPredicate.compare(count, .less, .value(.int(Int64(least))))
        if let most = relationship.maxCount.map({ max(least, $0) }) {
            violation = tooFew || .compare(count, .greater, .value(.int(Int64(most))))
            sentence = "must have \(least) to \(most) objects"
        } else {
            if least == 0 { return nil }
            violation = tooFew
            sentence = "must have at least \(least) objects"
        }
    }

    /// Passes the keys of the objects that violate the rule to `body`.
    func violations(
        _ session: ReadSession, _ limit: WorkLimit?, _ body: (Int64) throws(StorageError) -> Void
    ) throws(StorageError) {
        var plan: FetchPlan
        do throws(QueryError) {
            plan = try ObjectRequest(session.schema[entity].name, where: violation).plan(in: session.schema)
        } catch { throw StorageError(error) }
        plan.fields = .keysOnly
        let cursor = try session.cursor(for: plan), batch = RowBatch(capacity: 256)
        while try cursor.next(into: batch) {
            try limit?.check()
            for index in 0..<batch.count { try body(batch.key(index)) }
        }
    }
}

extension Relationship {
    /// The number of members that an object must have; 0 for a to-one relationship.
    var leastMembers: Int { cardinality == .toOne ? 0 : max(minCount ?? 0, isOptional ? 0 : 1) }
}
