/// Finds relationships by name in an entity and its parents.
struct InheritedRelationships {
    /// The entities by name.
    let names: [String: Int]
    /// The parent of each entity.
    let parents: [Int?]
    private let positions: [[String: Int]]

    /// - Parameter entities: Entities whose parents form no loop.
    init(_ entities: [Entity]) {
        let names = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.names = names
        parents = entities.map { $0.parent.flatMap { names[$0] } }
        positions = entities.map { entity in
            Dictionary(entity.relationships.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// The relationship of a name that an entity has, by the entity that declares it and its position there.
    func find(_ name: String, from entity: String) -> (owner: Int, position: Int)? {
        var current = names[entity]
        while let here = current {
            if let position = positions[here][name] { return (here, position) }
            current = parents[here]
        }
        return nil
    }
}
