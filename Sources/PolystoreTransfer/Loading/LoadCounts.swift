internal import PolystoreStorage

/// Checks the rules of relationships that only the load as a whole can satisfy: the number of their destinations.
struct LoadCounts {
    private struct Rule: Hashable {
        let entity: EntityIndex
        let relationship: String
    }

    private let schema: Schema
    /// The keys of objects of the store that the load references, by rule.
    private var touched: [Rule: Set<Int64>] = [:]
    private var rules: Set<Rule> = []

    init(_ schema: Schema, _ targets: [LoadTarget]) {
        self.schema = schema
        for target in targets {
            for item in target.description.relationships where Self.condition(item.relationship) != nil {
                let isFilled = target.references.contains { $0.name == item.relationship.name }
                if !isFilled { rules.insert(Rule(entity: target.entity, relationship: item.relationship.name)) }
            }
            let inverses =
                target.references.map { ($0.destination, $0.inverseName) } + target.members.map { ($0.search.destination, $0.inverseName) }
            for (destination, name) in inverses {
                guard let name, let other = schema[destination].relationship(name) else { continue }
                if Self.condition(other.relationship) != nil { rules.insert(Rule(entity: destination, relationship: name)) }
            }
        }
    }

    /// Records that a relationship of an object changes.
    mutating func add(_ relationship: String, of entity: EntityIndex, _ key: Int64) {
        if rules.isEmpty { return }
        let rule = Rule(entity: entity, relationship: relationship)
        if rules.contains(rule) { touched[rule, default: []].insert(key) }
    }

    /// Checks that the objects of the load, and the objects that it references, satisfy all rules.
    ///
    /// - Parameter isLoaded: Returns whether a key of an entity's hierarchy belongs to the load.
    /// - Throws: `validationFailed`, which names the entity and the relationship.
    func check(_ writer: WriteSession, isLoaded: (EntityIndex, Int64) -> Bool) throws(StorageError) {
        for rule in rules.sorted(by: { ($0.entity, $0.relationship) < ($1.entity, $1.relationship) }) {
            let description = schema[rule.entity]
            guard let relationship = description.relationship(rule.relationship)?.relationship,
                let (condition, sentence) = Self.condition(relationship)
            else { continue }
            var plan: FetchPlan
            do throws(QueryError) { plan = try ObjectRequest(description.name, where: condition).plan(in: schema) } catch {
                throw StorageError(error)
            }
            plan.fields = .keysOnly
            let cursor = try writer.cursor(for: plan), batch = RowBatch(capacity: 256)
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let key = batch.key(index)
                    guard isLoaded(description.root, key) || touched[rule]?.contains(key) == true else { continue }
                    throw StorageError(
                        .validationFailed, "\(description.name).\(rule.relationship) \(sentence); nothing was loaded",
                        details: .init(
                            entity: description.name, property: rule.relationship, keys: [key],
                            failures: [
                                ValidationFailure(entity: description.name, property: rule.relationship, key: key, sentence)
                            ]))
                }
            }
        }
    }

    /// Returns the condition under which an object violates the rule of a relationship, and a description of the rule. Returns nil if there
    /// is no rule.
    private static func condition(_ relationship: Relationship) -> (QueryPredicate, String)? {
        let path = PropertyPath([relationship.name])
        if relationship.cardinality == .toOne {
            return relationship.isOptional ? nil : (.compare(.path(path), .equal, .value(.null)), "is required but nil")
        }
        let count = QueryExpression.related(RelatedAggregate(.count, path))
        let least = max(relationship.minCount ?? 0, relationship.isOptional ? 0 : 1)
        let tooFew = QueryPredicate.compare(count, .less, .value(.int(Int64(least))))
        guard let most = relationship.maxCount else { return least > 0 ? (tooFew, "must have at least \(least) objects") : nil }
        let tooMany = QueryPredicate.compare(count, .greater, .value(.int(Int64(max(least, most)))))
        return (tooFew || tooMany, "must have \(least) to \(max(least, most)) objects")
    }
}
