internal import PolystoreStorage

/// Checks the rules of relationships that only the load as a whole can satisfy: the number of their destinations.
struct LoadCounts {
    private struct Path: Hashable {
        let entity: EntityIndex
        let relationship: String
    }

    private let schema: Schema
    private var rules: [Path: RelationshipRule] = [:]
    /// The keys of objects of the store that the load references, by the relationship with the rule.
    private var touched: [Path: Set<Int64>] = [:]

    init(_ schema: Schema, _ targets: [LoadTarget]) {
        self.schema = schema
        for target in targets {
            for item in target.description.relationships where !target.references.contains(where: { $0.name == item.relationship.name }) {
                addRule(item.relationship, of: target.entity)
            }
            let inverses =
                target.references.map { ($0.destination, $0.inverseName) } + target.members.map { ($0.search.destination, $0.inverseName) }
            for (destination, name) in inverses {
                if let name, let other = schema[destination].relationship(name) { addRule(other.relationship, of: destination) }
            }
        }
    }

    private mutating func addRule(_ relationship: Relationship, of entity: EntityIndex) {
        rules[Path(entity: entity, relationship: relationship.name)] = RelationshipRule(relationship, of: entity)
    }

    /// Records that a relationship of an object changes.
    mutating func add(_ relationship: String, of entity: EntityIndex, _ key: Int64) {
        if rules.isEmpty { return }
        let path = Path(entity: entity, relationship: relationship)
        if rules[path] != nil { touched[path, default: []].insert(key) }
    }

    /// Checks that the objects of the load, and the objects that it references, satisfy all rules.
    ///
    /// - Parameters:
    ///   - isLoaded: Returns whether a key of an entity's hierarchy belongs to the load.
    ///   - violation: Receives each object that does not satisfy a rule, with an error that names the entity and the relationship.
    func check(
        _ writer: WriteSession, _ limit: WorkLimit?, isLoaded: (EntityIndex, Int64) -> Bool,
        violation: (LoadClaim.Object, RelationshipRule, StorageError) throws(StorageError) -> Void
    ) throws(StorageError) {
        for (path, rule) in rules.sorted(by: { ($0.key.entity, $0.key.relationship) < ($1.key.entity, $1.key.relationship) }) {
            let description = schema[path.entity], touched = touched[path] ?? []
            try rule.violations(writer, limit) { key throws(StorageError) in
                guard touched.contains(key) || isLoaded(description.root, key) else { return }
                let error = StorageError(
                    .validationFailed, "\(description.name).\(path.relationship) \(rule.sentence); nothing was loaded",
                    details: .init(
                        entity: description.name, property: path.relationship, keys: [key],
                        failures: [ValidationFailure(entity: description.name, property: path.relationship, key: key, rule.sentence)]))
                try violation(LoadClaim.Object(root: description.root, key: key), rule, error)
            }
        }
    }
}
