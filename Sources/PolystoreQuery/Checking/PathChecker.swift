internal import PolystoreSchema

/// Finds the properties of a request in the schema.
struct PathChecker {
    let schema: Schema

    /// The property at the end of a path of to-one relationships.
    func check(_ path: PropertyPath, from entity: EntityIndex) throws(QueryError) -> CheckedPath {
        var steps: [CheckedPath.Step] = []
        var current = entity
        for (position, name) in path.names.enumerated() {
            let description = schema[current]
            let isLast = position == path.names.count - 1
            if name == "SELF", isLast {
                return CheckedPath(steps: steps, entity: current, leaf: .key, type: .int64, text: path.description)
            }
            guard let slot = description.slot(name) else { throw unknown(name, description, path) }
            if isLast {
                return CheckedPath(
                    steps: steps, entity: current, leaf: .slot(slot), type: description.slots[slot].type, text: path.description)
            }
            guard let destination = description.slots[slot].destination else {
                throw QueryError(path: path.description, "\(description.name).\(name) is an attribute; only relationships lead on")
            }
            steps.append(CheckedPath.Step(entity: current, slot: slot, destination: destination))
            current = destination
        }
        throw QueryError(path: path.description, "a key path needs at least one name")
    }

    /// Whether the path ends at a relationship or an object, whose values are keys.
    func isReference(_ path: CheckedPath) -> Bool {
        switch path.leaf {
        case .key: true
        case .slot(let slot): schema[path.entity].slots[slot].destination != nil
        }
    }

    /// The attribute at the end, nil for keys.
    func attribute(_ path: CheckedPath) -> Attribute? {
        switch path.leaf {
        case .key: nil
        case .slot(let slot): schema[path.entity].slots[slot].attribute
        }
    }

    private func unknown(_ name: String, _ description: EntityDescription, _ path: PropertyPath) -> QueryError {
        if description.relationship(name) != nil {
            return QueryError(
                path: path.description, "\(description.name).\(name) is a to-many relationship, which cannot be part of a key path here")
        }
        let known = description.slots.map(\.name)
        let near = Suggestion.nearest(name, in: known)
        let list = near.isEmpty && known.count <= 12 ? "; it has \(known.joined(separator: ", "))" : near
        return QueryError(path: path.description, "\(description.name) has no property \"\(name)\"\(list)")
    }
}
