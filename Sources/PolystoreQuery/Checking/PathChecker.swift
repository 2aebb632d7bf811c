internal import PolystoreSchema

/// Resolves the properties of a request in the schema.
struct PathChecker {
    /// The maximum number of relationships of a path. Each costs one lookup per row, or a join in a database engine.
    static let longest = 32

    let schema: Schema

    func checkLength(_ path: PropertyPath) throws(QueryError) {
        if path.names.count <= Self.longest + 1 { return }
        throw QueryError(.tooComplex, path: path.description, "a key path can have at most \(Self.longest) relationships and a property")
    }

    /// Returns the property at the end of a path of to-one relationships.
    func check(_ path: PropertyPath, from entity: EntityIndex) throws(QueryError) -> CheckedPath {
        try checkLength(path)
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
                throw QueryError(
                    path: path.description, "\(description.name).\(name) is an attribute; a key path can continue only after a relationship"
                )
            }
            steps.append(CheckedPath.Step(entity: current, slot: slot, destination: destination))
            current = destination
        }
        throw QueryError(path: path.description, "a key path needs at least one name")
    }

    /// Returns the relationships of a path, of which at least one is to-many.
    func hops(_ path: PropertyPath, from entity: EntityIndex) throws(QueryError) -> (hops: [CheckedMembers.Hop], destination: EntityIndex) {
        try checkLength(path)
        var hops: [CheckedMembers.Hop] = [], current = entity
        for name in path.names {
            let description = schema[current]
            if let slot = description.slot(name), let destination = description.slots[slot].destination {
                hops.append(.toOne(CheckedPath.Step(entity: current, slot: slot, destination: destination)))
                current = destination
            } else if let index = description.relationshipIndex(name) {
                let destination = description.relationships[index].destination
                hops.append(.toMany(current, index, destination: destination))
                current = destination
            } else if description.slot(name) != nil {
                throw QueryError(path: path.description, "\(description.name).\(name) is an attribute; a relationship is expected")
            } else {
                throw unknown(name, description, path)
            }
        }
        return (hops, current)
    }

    /// Returns whether a path of relationships contains a to-many one.
    func isToMany(_ path: PropertyPath, from entity: EntityIndex) -> Bool {
        guard let found = try? hops(path, from: entity).hops else { return false }
        return found.contains { if case .toMany = $0 { true } else { false } }
    }

    /// Returns the type of an aggregate over an expression, or with nil over objects.
    func checkAggregate(_ function: AggregateFunction, _ argument: CheckedExpression?) throws(QueryError) -> ValueType {
        let descriptor = function.descriptor
        guard let argument else {
            guard descriptor.takesObjects else { throw QueryError("\(function.rawValue) requires a property") }
            return descriptor.type(of: .int64)
        }
        switch descriptor.takes {
        case .anything: break
        case .numbers:
            if !argument.type.isNumeric || argument.property.map(isReference) ?? false {
                throw QueryError(
                    path: argument.property?.text ?? "", "\(function.rawValue) requires a number")
            }
        case .ordered:
            if let path = argument.property, attribute(path)?.coder != nil {
                throw QueryError(path: path.text, "\(function.rawValue) requires ordered values, and a coded attribute is not ordered")
            }
        }
        return descriptor.type(of: argument.type)
    }

    /// Returns whether the path ends at a relationship or an object, whose values are keys.
    func isReference(_ path: CheckedPath) -> Bool {
        switch path.leaf {
        case .key: true
        case .slot(let slot): schema[path.entity].slots[slot].destination != nil
        }
    }

    /// Returns the attribute at the end; nil for keys.
    func attribute(_ path: CheckedPath) -> Attribute? {
        switch path.leaf {
        case .key: nil
        case .slot(let slot): schema[path.entity].slots[slot].attribute
        }
    }

    private func unknown(_ name: String, _ description: EntityDescription, _ path: PropertyPath) -> QueryError {
        if description.relationship(name) != nil {
            return QueryError(
                path: path.description,
                "\(description.name).\(name) is a to-many relationship; use ANY, ALL or NONE, or an aggregate such as @count")
        }
        let known = description.slots.map(\.name)
        let near = Suggestion.nearest(name, in: known)
        let list = near.isEmpty && known.count <= 12 ? "; it has \(known.joined(separator: ", "))" : near
        return QueryError(path: path.description, "\(description.name) has no property \"\(name.excerpt())\"\(list)")
    }
}
