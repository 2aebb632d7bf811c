extension SchemaComparison {
    mutating func compareRelationships(_ before: Entity, _ after: Entity) {
        let names = renames(before, after)
        for relationship in before.relationships {
            if let name = names.successors[relationship.name], let other = after.relationships.first(where: { $0.name == name }) {
                compare(relationship, other, after.name)
            } else {
                remove(relationship, before)
            }
        }
        for relationship in after.relationships where names.origins[relationship.name] == nil {
            let path = "\(after.name).\(relationship.name)"
            let hasObjects = entities.origins[after.name] != nil
            add(
                path, "relationship \(path) was added",
                relationship.isOptional || !hasObjects ? .inferred : .undecided("the related objects of existing objects"),
                isAddition: true)
        }
    }

    /// Records the removal of a relationship. Its inverse keeps the pairs if it remains.
    private mutating func remove(_ relationship: Relationship, _ entity: Entity) {
        let path = "\(entity.name).\(relationship.name)"
        let other = relationship.inverse.flatMap { successor(of: $0, relationship.destination) }
        add(path, "relationship \(path) was removed", other == nil ? .lossy("the references of \(path)") : .inferred, of: relationship.name)
    }

    private mutating func compare(_ before: Relationship, _ after: Relationship, _ entity: String) {
        let path = "\(entity).\(after.name)"
        if before.name != after.name { add(path, "\(entity).\(before.name) was renamed to \(after.name)") }
        if entities.successors[before.destination] != after.destination {
            add(
                path, "the destination of \(path) changed from \(before.destination) to \(after.destination)",
                isAncestor(after.destination, of: before.destination)
                    ? .inferred : .undecided("which objects of \(after.destination) it refers to"))
        }
        if before.cardinality != after.cardinality {
            add(
                path, "\(path) changed from \(before.cardinality.rawValue) to \(after.cardinality.rawValue)",
                Self.effect(before.cardinality, after.cardinality, path), of: before.name)
        }
        if before.isOptional != after.isOptional {
            add(
                path, "\(path) became \(after.isOptional ? "optional" : "required")",
                after.isOptional ? .inferred : .conditional("every object has a related object in \(path)"))
        }
        compareInverses(before, after, path)
        if before.deleteRule != after.deleteRule {
            add(path, "the delete rule of \(path) changed from \(before.deleteRule.rawValue) to \(after.deleteRule.rawValue)")
        }
    }

    private static func effect(_ before: Cardinality, _ after: Cardinality, _ path: String) -> SchemaChange.Effect {
        switch (before, after) {
        case (.toManyOrdered, .toMany): .lossy("the order of \(path)")
        case (.toMany, .toOne), (.toManyOrdered, .toOne): .undecided("which of several related objects it keeps")
        case (.toOne, _), (.toMany, _), (.toManyOrdered, .toManyOrdered): .inferred
        }
    }

    private mutating func compareInverses(_ before: Relationship, _ after: Relationship, _ path: String) {
        if before.inverse.flatMap({ successor(of: $0, before.destination) }) == after.inverse { return }
        add(
            path, "the inverse of \(path) changed from \(before.inverse ?? "none") to \(after.inverse ?? "none")",
            inverseEffect(after.inverse, after.destination, path))
    }

    private func inverseEffect(_ inverse: String?, _ destination: String, _ path: String) -> SchemaChange.Effect {
        guard let inverse, let owner = Self.owner(of: inverse, destination, in: new) else { return .inferred }
        // The relationship's own pairs conflict with others only if the new inverse existed as a relationship before.
        if hasOrigin(inverse, destination) { return .undecided("which pairs of the two relationships are kept") }
        let isToOne = owner.relationships.contains { $0.name == inverse && $0.cardinality == .toOne }
        return isToOne ? .conditional("no two objects refer to the same object by \(path)") : .inferred
    }

    /// Returns the new name of a relationship that an old entity declares or inherits, or nil if it was removed.
    private func successor(of relationship: String, _ entity: String) -> String? {
        guard let owner = Self.owner(of: relationship, entity, in: old), let name = entities.successors[owner.name],
            let index = new.index(of: name)
        else { return nil }
        return renames(owner, new.entities[index]).successors[relationship]
    }

    /// Returns whether a relationship that a new entity declares or inherits corresponds to an old relationship.
    private func hasOrigin(_ relationship: String, _ entity: String) -> Bool {
        guard let owner = Self.owner(of: relationship, entity, in: new), let name = entities.origins[owner.name],
            let index = old.index(of: name)
        else { return false }
        return renames(old.entities[index], owner).origins[relationship] != nil
    }

    private static func owner(of relationship: String, _ entity: String, in schema: Schema) -> Entity? {
        guard let index = schema.index(of: entity), let place = schema[index].relationship(relationship) else { return nil }
        return schema.entities[place.declaredIn]
    }

    private func renames(_ before: Entity, _ after: Entity) -> Renames {
        Renames(
            from: before.relationships.map { ($0.name, $0.originalName) }, to: after.relationships.map { ($0.name, $0.originalName) },
            direction)
    }

    /// Returns whether every object of an old entity belongs to a new entity.
    private func isAncestor(_ name: String, of old: String) -> Bool {
        guard let ancestor = new.index(of: name), let index = entities.successors[old].flatMap(new.index(of:)) else { return false }
        return new[ancestor].family.contains(index)
    }
}
