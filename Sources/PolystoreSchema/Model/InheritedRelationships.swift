/// Finds relationships by name in an entity and its parents.
struct InheritedRelationships {
    /// The index of the entity with each name.
    let names: [String: Int]
    /// The index of the parent of each entity.
    let parents: [Int?]
    private let positions: [[String: Int]]

    /// Creates a lookup.
    ///
    /// - Parameter entities: Entities whose parents form no loop.
    init(_ entities: [Entity]) {
        let names = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.names = names
        parents = entities.map { $0.parent.flatMap { names[$0] } }
        positions = entities.map { entity in
            Dictionary(entity.relationships.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the relationship of a name that an entity declares or inherits, as the index of the declaring entity and the position there.
    func find(_ name: String, from entity: String) -> (owner: Int, position: Int)? {
        var current = names[entity]
        while let here = current {
            if let position = positions[here][name] { return (here, position) }
            current = parents[here]
        }
        return nil
    }
}
