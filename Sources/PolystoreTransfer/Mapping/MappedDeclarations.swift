internal import PolystoreStorage

/// The declarations of a model under a mapping, with their new names and types wherever they are mentioned.
struct MappedDeclarations {
    private let source: Schema
    /// The new names of entities.
    private var entityNames: [String: String] = [:]
    /// The new names of properties, by the entity that declares them.
    private var propertyNames: [EntityIndex: [String: String]] = [:]
    private var types: [EntityIndex: [String: TransferMapping.AttributeType]] = [:]

    /// Resolves the paths of a mapping.
    ///
    /// - Throws: `invalidConfiguration` for a path that names nothing, and for names that collide.
    init(_ mapping: TransferMapping, of source: Schema) throws(StorageError) {
        self.source = source
        for (path, name) in mapping.renames.sorted(by: { $0.key < $1.key }) {
            let (entity, property) = try find(path)
            if let property {
                propertyNames[entity, default: [:]][property] = name
            } else {
                entityNames[source.entities[entity].name] = name
            }
        }
        for (path, type) in mapping.types.sorted(by: { $0.key < $1.key }) {
            let (entity, property) = try find(path)
            guard let property, let attribute = source.entities[entity].attributes.first(where: { $0.name == property }) else {
                throw Self.refusal(
                    "\(path) is \(property == nil ? "an entity" : "a relationship"); only an attribute can have another type")
            }
            try check(attribute, path, type.type)
            types[entity, default: [:]][property] = type
        }
        try checkCollisions()
    }

    static func refusal(_ message: String) -> StorageError { StorageError(.invalidConfiguration, message) }

    // MARK: Paths

    /// Returns the entity that a path names, and the property that this entity declares.
    private func find(_ path: String) throws(StorageError) -> (EntityIndex, property: String?) {
        let parts = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init), name = parts[0]
        guard let entity = source.index(of: name) else {
            let near = Suggestion.nearest(name, in: source.entities.map(\.name))
            throw Self.refusal("the source has no entity \"\(name.excerpt())\"\(near)")
        }
        guard parts.count == 2 else { return (entity, nil) }
        let property = parts[1], description = source[entity]
        let slot = description.slot(property).map { description.slots[$0] }
        guard let declaring = slot?.declaredIn ?? description.relationship(property)?.declaredIn else {
            let known = description.slots.map(\.name) + description.relationships.map(\.relationship.name)
            throw Self.refusal("\(name) has no property \"\(property.excerpt())\"\(Suggestion.nearest(property, in: known))")
        }
        if declaring != entity {
            let owner = source.entities[declaring].name
            throw Self.refusal("\(name) inherits \(property) from \(owner); did you mean \"\(owner).\(property)\"?")
        }
        return (entity, property)
    }

    private func checkCollisions() throws(StorageError) {
        var seen: [String: String] = [:]
        for entity in source.entities {
            let name = self.name(of: entity.name)
            if let other = seen.updateValue(entity.name, forKey: name) {
                throw Self.refusal("the entities \(other) and \(entity.name) would both be called \"\(name.excerpt())\"")
            }
        }
        for description in source.descriptions {
            let names = renames(seenBy: description.index)
            let own = description.slots.map(\.name) + description.relationships.filter { !$0.relationship.isToOne }.map(\.relationship.name)
            var seen: [String: String] = [:]
            for property in own {
                let name = names[property] ?? property
                if let other = seen.updateValue(property, forKey: name) {
                    throw Self.refusal(
                        "\(description.name).\(other) and \(description.name).\(property) would both be called \"\(name.excerpt())\"")
                }
            }
        }
    }

    // MARK: Types

    private func check(_ attribute: Attribute, _ path: String, _ type: ValueType) throws(StorageError) {
        if attribute.type == type { return }
        if attribute.crossReference != nil {
            throw Self.refusal("\(path) refers to objects of other stores, so its type cannot change")
        }
        if attribute.coder != nil { throw Self.refusal("\(path) contains coded values, so its type cannot change") }
        if ValueConversion(from: attribute.type, to: type) != nil { return }
        let possible = ValueType.allCases.filter { ValueConversion(from: attribute.type, to: $0) != nil }
        throw Self.refusal(
            "the values of \(path) cannot be converted from \(attribute.type.rawValue) to \(type.rawValue), only to "
                + possible.map(\.rawValue).joined(separator: ", "))
    }

    private func converted(_ attribute: Attribute, _ path: String, to type: ValueType) throws(StorageError) -> Attribute {
        guard attribute.type != type, let conversion = ValueConversion(from: attribute.type, to: type) else { return attribute }
        func convert(_ value: Value, _ what: String) throws(StorageError) -> Value {
            if case .exact(let converted) = conversion.convert(value) { return converted }
            throw Self.refusal("\(what) of \(path), \(value.description.excerpt()), cannot be converted to \(type.rawValue) exactly")
        }
        var result = attribute
        result.type = type
        if let value = attribute.defaultValue { result.defaultValue = try convert(value, "the default") }
        result.allowedValues = []
        for value in attribute.allowedValues { result.allowedValues.append(try convert(value, "an allowed value")) }
        let limits = attribute.rules
        if limits.minimum != nil || limits.maximum != nil {
            guard attribute.type.isNumeric && type.isNumeric || attribute.type.isText && type.isText else {
                throw Self.refusal(
                    "\(path) has a minimum or maximum, which has no meaning for the type \(type.rawValue): its values have another order")
            }
            if let value = limits.minimum { result.rules.minimum = try convert(value, "the minimum") }
            if let value = limits.maximum { result.rules.maximum = try convert(value, "the maximum") }
        }
        if limits.minLength != nil || limits.maxLength != nil, (attribute.type == .data) != (type == .data) {
            throw Self.refusal(
                "\(path) has a least or greatest length, which counts the bytes of data and the characters of other types, so it cannot become "
                    + type.rawValue)
        }
        return result
    }

    // MARK: Declarations

    private func name(of entity: String) -> String { entityNames[entity] ?? entity }

    /// Returns the new names of the properties that an entity declares or inherits.
    private func renames(seenBy entity: EntityIndex) -> [String: String] {
        var names: [String: String] = [:], next: EntityIndex? = entity
        while let current = next {
            names.merge(propertyNames[current] ?? [:]) { own, _ in own }
            next = source[current].parent
        }
        return names
    }

    /// Returns the model of the target.
    ///
    /// The properties of each entity keep their order. What is renamed has its name in the source as its original name.
    func schema() throws(StorageError) -> Schema {
        var entities: [Entity] = []
        for index in source.entities.indices { entities.append(try entity(index)) }
        let configurations = source.configurations.mapValues { $0.map(name) }
        do throws(SchemaError) {
            return try Schema(version: source.version, entities: entities, configurations: configurations)
        } catch {
            throw StorageError(.invalidConfiguration, "the model of the target would be invalid: \(error)", cause: error)
        }
    }

    private func entity(_ index: EntityIndex) throws(StorageError) -> Entity {
        var result = source.entities[index]
        let path = result.name, names = renames(seenBy: index)
        result.name = name(of: path)
        if result.name != path { result.originalName = path }
        result.parent = result.parent.map(name)
        for position in result.attributes.indices {
            var attribute = result.attributes[position]
            let old = attribute.name
            if let type = types[index]?[old] {
                attribute = try converted(attribute, "\(path).\(old)", to: type.type)
                if type.becomesOptional { attribute.isOptional = true }
            }
            attribute.name = names[old] ?? old
            if attribute.name != old { attribute.originalName = old }
            if let reference = attribute.crossReference { attribute.crossReference?.destination = name(of: reference.destination) }
            result.attributes[position] = attribute
        }
        for position in result.relationships.indices {
            var relationship = result.relationships[position]
            let old = relationship.name
            relationship.name = names[old] ?? old
            if relationship.name != old { relationship.originalName = old }
            if let inverse = relationship.inverse, let destination = source.index(of: relationship.destination) {
                relationship.inverse = renames(seenBy: destination)[inverse] ?? inverse
            }
            relationship.destination = name(of: relationship.destination)
            result.relationships[position] = relationship
        }
        result.indexes = result.indexes.map { $0.renaming(names) }
        result.uniqueConstraints = result.uniqueConstraints.map { UniqueConstraint($0.properties.map { names[$0] ?? $0 }) }
        return result
    }
}

extension Relationship {
    fileprivate var isToOne: Bool { cardinality == .toOne }
}
