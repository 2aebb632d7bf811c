/// The rules of a schema, which are checked before anything is derived from it.
struct SchemaRules {
    let entities: [Entity]
    let inherited: InheritedRelationships
    let configurations: [String: [String]]

    private var names: [String: Int] { inherited.names }

    func check() throws(SchemaError) {
        for entity in entities {
            try check(name: entity.name, entity.name)
            try checkProperties(entity)
            for attribute in entity.attributes { try check(attribute, entity) }
            for relationship in entity.relationships { try check(relationship, entity) }
            try checkIndexes(entity)
        }
        try checkConfigurations()
    }

    /// Checks that a name consists of letters, digits, and underscores of any script, and that stores and requests do not reserve it.
    private func check(name: String, _ path: String) throws(SchemaError) {
        let scalars = name.unicodeScalars
        guard let first = scalars.first, first.properties.isXIDStart,
            scalars.allSatisfy({ $0.properties.isXIDContinue })
        else {
            throw SchemaError(path, "\"\(name.excerpt())\" is not a valid name: use a letter, followed by letters, digits and underscores")
        }
        if name == "SELF" || name.hasPrefix("polystore_") {
            throw SchemaError(path, "\"\(name.excerpt())\" is reserved; choose another name")
        }
    }

    private func ancestors(_ entity: Entity) -> [Entity] {
        Array(sequence(first: entity) { $0.parent.flatMap { names[$0] }.map { entities[$0] } }.dropFirst())
    }

    private func properties(_ entity: Entity) -> [String] { entity.attributes.map(\.name) + entity.relationships.map(\.name) }

    private func checkProperties(_ entity: Entity) throws(SchemaError) {
        var seen = Set(ancestors(entity).flatMap(properties))
        for name in properties(entity) {
            try check(name: name, "\(entity.name).\(name)")
            if !seen.insert(name).inserted {
                throw SchemaError("\(entity.name).\(name)", "the entity or one of its parents has another property of this name")
            }
        }
    }

    private func check(_ attribute: Attribute, _ entity: Entity) throws(SchemaError) {
        let path = "\(entity.name).\(attribute.name)"
        if Set(attribute.allowedValues).count != attribute.allowedValues.count {
            throw SchemaError(path, "its allowed values contain a duplicate")
        }
        if attribute.coder != nil, attribute.type != .data, attribute.type != .string {
            throw SchemaError(path, "a coded attribute must have the type data or string, not \(attribute.type.rawValue)")
        }
        try checkRules(attribute, path)
        guard let value = attribute.defaultValue else { return }
        do throws(ValueError) {
            _ = try attribute.normalise(value)
        } catch {
            throw SchemaError(path, "its default value is invalid: \(error.message)")
        }
    }

    private func checkRules(_ attribute: Attribute, _ path: String) throws(SchemaError) {
        let rules = attribute.rules
        do throws(ValueError) {
            for value in [rules.minimum, rules.maximum].compactMap({ $0 }) { _ = try attribute.normalise(value) }
        } catch {
            throw SchemaError(path, "its minimum or maximum is invalid: \(error.message)")
        }
        if let least = rules.minimum, let most = rules.maximum, least.compare(to: most) > 0 {
            throw SchemaError(path, "its minimum is greater than its maximum")
        }
        if rules.minLength ?? 0 > rules.maxLength ?? .max { throw SchemaError(path, "its minLength is greater than its maxLength") }
        if rules.minLength != nil || rules.maxLength != nil, ![.string, .url, .data].contains(attribute.type) {
            throw SchemaError(path, "minLength and maxLength do not apply to the type \(attribute.type.rawValue)")
        }
        if rules.pattern != nil, attribute.type != .string {
            throw SchemaError(path, "a pattern applies only to the type string, not to \(attribute.type.rawValue)")
        }
        guard let reference = attribute.crossReference else { return }
        if attribute.type != .string {
            throw SchemaError(path, "a reference to an object of another store must have the type string, not \(attribute.type.rawValue)")
        }
        if names[reference.destination] == nil {
            throw SchemaError(
                path,
                "the schema has no entity \"\(reference.destination.excerpt())\", which is its "
                    + "destination\(Suggestion.nearest(reference.destination, in: names.keys))"
            )
        }
        if !attribute.isOptional, reference.inverseDeleteRule == .nullify {
            throw SchemaError(path, "a reference with the delete rule nullify must be optional")
        }
    }

    private func check(_ relationship: Relationship, _ entity: Entity) throws(SchemaError) {
        let path = "\(entity.name).\(relationship.name)"
        if relationship.cardinality == .toOne, relationship.minCount != nil || relationship.maxCount != nil {
            throw SchemaError(path, "minCount and maxCount apply only to to-many relationships; use isOptional for a to-one relationship")
        }
        if relationship.minCount ?? 0 > relationship.maxCount ?? .max {
            throw SchemaError(path, "its minCount is greater than its maxCount")
        }
        guard let destination = names[relationship.destination].map({ entities[$0] }) else {
            throw SchemaError(
                path,
                "the schema has no entity \"\(relationship.destination.excerpt())\", which is its "
                    + "destination\(Suggestion.nearest(relationship.destination, in: names.keys))"
            )
        }
        guard let name = relationship.inverse else { return }
        guard let found = inherited.find(name, from: relationship.destination) else {
            let candidates = ([destination] + ancestors(destination)).flatMap(\.relationships)
            throw SchemaError(
                path,
                "\(destination.name.excerpt()) has no relationship \"\(name.excerpt())\", which is its "
                    + "inverse\(Suggestion.nearest(name, in: candidates.map(\.name)))"
            )
        }
        let inverse = entities[found.owner].relationships[found.position]
        guard inverse.inverse == relationship.name else {
            throw SchemaError(
                path,
                "\(destination.name.excerpt()).\(name.excerpt()) must declare \"\(relationship.name.excerpt())\" as its inverse: both "
                    + "sides declare each other"
            )
        }
        let family = [entity.name] + ancestors(entity).map(\.name)
        let isRelated = family.contains(inverse.destination) || isDescendant(inverse.destination, of: entity.name)
        guard isRelated else {
            throw SchemaError(
                path, "the destination of its inverse \(destination.name).\(name) is \(inverse.destination), not \(entity.name)")
        }
        if relationship.cardinality == .toManyOrdered, inverse.cardinality == .toManyOrdered {
            throw SchemaError(
                path,
                "the relationship and its inverse \(destination.name.excerpt()).\(name.excerpt()) cannot both be ordered; make one of them "
                    + "unordered, a Set in a model class")
        }
    }

    private func isDescendant(_ name: String, of ancestor: String) -> Bool {
        names[name].map { index in ancestors(entities[index]).contains { $0.name == ancestor } } ?? false
    }

    private func checkIndexes(_ entity: Entity) throws(SchemaError) {
        let owners = [entity] + ancestors(entity)
        let attributes = owners.flatMap(\.attributes)
        let references = owners.flatMap(\.relationships).filter { $0.cardinality == .toOne }.map(\.name)
        let known = Set(attributes.map(\.name) + references), coded = Set(attributes.filter { $0.coder != nil }.map(\.name))
        for (kind, list) in [("index", entity.indexes.map(\.properties)), ("unique", entity.uniqueConstraints.map(\.properties))] {
            for properties in list {
                let path = "\(entity.name).\(kind)(\(properties.joined(separator: ",")))"
                if properties.isEmpty || Set(properties).count != properties.count {
                    throw SchemaError(path, "at least one property is required, and none may be repeated")
                }
                for name in properties where !known.contains(name) {
                    throw SchemaError(
                        path,
                        "the entity has no attribute or to-one relationship \"\(name.excerpt())\"\(Suggestion.nearest(name, in: known))"
                    )
                }
                if let name = properties.first(where: coded.contains) {
                    throw SchemaError(path, "\"\(name.excerpt())\" is a coded attribute; coded attributes cannot be indexed or unique")
                }
            }
        }
        for index in entity.indexes {
            let path = "\(entity.name).index(\(index.properties.joined(separator: ",")))"
            if index.kind == .fullText { try checkFullText(index, attributes, path) }
            if let text = index.condition { try IndexCondition.check(text, path, attributes: attributes, references: references) }
        }
    }

    private func checkFullText(_ index: Index, _ attributes: [Attribute], _ path: String) throws(SchemaError) {
        guard index.properties.count == 1, attributes.contains(where: { $0.name == index.properties[0] && $0.type == .string }) else {
            throw SchemaError(path, "a full-text index must have exactly one property, an attribute of type string")
        }
        if index.condition != nil { throw SchemaError(path, "a full-text index cannot have a condition: it covers all objects") }
    }

    /// The entities that must be in the same configuration as an entity.
    private struct Relatives {
        /// The parent and the children of the entity.
        var hierarchy: [String]
        /// The destinations of the entity's relationships, each with one of the relationships that reference it.
        let destinations: [String: String]
    }

    private func relatives() -> [Relatives] {
        var result = entities.map { entity in
            Relatives(
                hierarchy: entity.parent.map { [$0] } ?? [],
                destinations: Dictionary(
                    entity.relationships.map { ($0.destination, $0.name) }, uniquingKeysWith: { first, _ in first }))
        }
        for (index, parent) in inherited.parents.enumerated() {
            if let parent { result[parent].hierarchy.append(entities[index].name) }
        }
        return result
    }

    private func checkConfigurations() throws(SchemaError) {
        if configurations.isEmpty { return }
        let relatives = relatives()
        for (configuration, members) in configurations.sorted(by: { $0.key < $1.key }) {
            let path = "configuration \(configuration)"
            for name in members where names[name] == nil {
                throw SchemaError(path, "the schema has no entity \"\(name.excerpt())\"\(Suggestion.nearest(name, in: names.keys))")
            }
            try check(configuration: Set(members), members, relatives, path)
        }
    }

    private func check(configuration: Set<String>, _ members: [String], _ relatives: [Relatives], _ path: String) throws(SchemaError) {
        for name in members {
            let relatives = relatives[names[name] ?? 0]
            if let missing = relatives.hierarchy.first(where: { !configuration.contains($0) }) {
                throw SchemaError(path, "it contains \(name) but not \(missing): a configuration must contain all entities of a hierarchy")
            }
            if let outside = relatives.destinations.filter({ !configuration.contains($0.key) }).min(by: { $0.key < $1.key }) {
                throw SchemaError(path, "the destination of \(name).\(outside.value), \(outside.key), is not in the configuration")
            }
        }
    }
}
