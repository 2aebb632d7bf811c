internal import PolystoreStorage

/// A rule about the number of destinations of a relationship.
struct RelationshipRule {
    /// The entity whose objects have the relationship.
    let entity: EntityIndex
    let relationship: String
    /// Whether the relationship has one destination, which an object must have.
    let isToOne: Bool
    /// The number of destinations that an object has at least.
    private let least: Int
    /// The number of destinations that an object has at most; nil for any number.
    private let most: Int?

    /// Creates the rule of a relationship; nil if it has none.
    ///
    /// - Parameter acceptsFewer: Whether objects may have fewer destinations than they must.
    init?(_ relationship: Relationship, of entity: EntityIndex, acceptsFewer: Bool = false) {
        self.entity = entity
        self.relationship = relationship.name
        isToOne = relationship.cardinality == .toOne
        least = acceptsFewer ? 0 : relationship.leastDestinations
        most = relationship.maxCount.map { [least] in max(least, $0) }
        if least == 0, most == nil { return nil }
    }

    /// The rule as the end of a sentence that begins with the relationship.
    var sentence: String {
        if isToOne { return "is required but nil" }
        return most.map { "must have \(least) to \($0) objects" } ?? "must have at least \(least) objects"
    }

    /// Returns whether an object with a number of destinations violates the rule.
    func isViolated(by count: Int) -> Bool { count < least || most.map { count > $0 } ?? false }

    private var violation: QueryPredicate {
        let path = PropertyPath([relationship])
        if isToOne { return .compare(.path(path), .equal, .value(.null)) }
        let count = QueryExpression.related(RelatedAggregate(.count, path))
        let tooFew = QueryPredicate.compare(count, .less, .value(.int(Int64(least))))
        return most.map { tooFew || .compare(count, .greater, .value(.int(Int64($0)))) } ?? tooFew
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
    /// The number of destinations that an object must have.
    var leastDestinations: Int { max(minCount ?? 0, isOptional ? 0 : 1) }
}
