internal import PolystoreStorage

/// A schema with the classes of its entities: the model of a stack.
package struct StackModel: Sendable {
    /// The inverse of a to-one relationship.
    enum Inverse: Sendable {
        case none
        /// A to-one relationship in a slot of the destination.
        case toOne(slot: Int)
        /// A to-many relationship of the destination, by its position in the relationships.
        case toMany(relationship: Int)
        /// An ordered to-many relationship of the destination, whose order is stored in a link table.
        case ordered(relationship: Int, link: Int)
    }

    package let schema: Schema
    /// The class of each entity; `DynamicObject` for an entity without a class in the program.
    let types: [ManagedObject.Type]
    /// The entity of each class.
    let entities: [ObjectIdentifier: EntityIndex]
    /// The inverse of each slot of each entity; `none` for attributes.
    let inverses: [[Inverse]]
    /// The validation rules of each entity; nil if its objects cannot violate any.
    let rules: [EntityRules?]
    /// Whether any entity has rules.
    let hasRules: Bool
    /// Whether the objects of each entity prepare themselves for a commit.
    let isSaveAware: [Bool]
    /// Whether any entity has such objects.
    let hasSaveAware: Bool
    /// Whether objects of each entity must be checked before a commit.
    let isChecked: [Bool]
    /// The references into other stores.
    let references: [ReferenceAttribute]
    /// Whether any to-many relationship has a limit.
    let hasCounts: Bool

    /// Creates a model of only the given classes.
    init(classes: [ManagedObject.Type], configurations: [String: [String]], version: String) throws(StorageError) {
        do throws(SchemaError) {
            let schema = try Schema(version: version, entities: classes.map { $0.declaration }, configurations: configurations)
            try self.init(schema: schema, classes: classes)
        } catch {
            throw StorageError(error)
        }
    }

    /// Creates a model from a schema, with classes for some or all of its entities.
    init(schema: Schema, classes: [ManagedObject.Type]) throws(SchemaError) {
        self.schema = schema
        var types = [ManagedObject.Type](repeating: DynamicObject.self, count: schema.entities.count)
        var entities: [ObjectIdentifier: EntityIndex] = [:]
        for type in classes {
            var declaration = type.declaration
            guard let index = schema.index(of: declaration.name) else {
                throw SchemaError(declaration.name, "class \(type) declares an entity that the schema does not contain")
            }
            declaration = Self.completing(declaration, schema.entities[index])
            guard declaration == schema.entities[index] else {
                if let name = Self.changingDefault(declaration, type.declaration) {
                    throw SchemaError(
                        "\(declaration.name).\(name)",
                        "its initial value in class \(type) differs between evaluations; mark it with @Attribute(.dynamicInitialValue)"
                    )
                }
                throw SchemaError(
                    declaration.name,
                    "class \(type) declares this entity differently from the schema: \(Self.difference(declaration, schema.entities[index])); "
                        + "generate the class again")
            }
            types[index] = type
            entities[ObjectIdentifier(type)] = index
        }
        self.types = types
        self.entities = entities
        inverses = schema.descriptions.map { description in
            description.slots.map { slot in
                guard case .toOne(let relationship, let destination) = slot.content, let name = relationship.inverse else { return .none }
                return Self.inverse(name, in: schema[destination])
            }
        }
        var rules: [EntityRules?] = []
        for (index, description) in schema.descriptions.enumerated() { rules.append(try EntityRules(description, types[index])) }
        self.rules = rules
        hasRules = rules.contains { $0 != nil }
        hasCounts = rules.contains { $0.map { !$0.counts.isEmpty } ?? false }
        references = ReferenceAttribute.all(in: schema)
        isSaveAware = types.map { $0 is any SaveAwareObject.Type }
        hasSaveAware = isSaveAware.contains(true)
        isChecked = zip(rules, isSaveAware).map { $0 != nil || $1 }
    }

    /// Returns whether an assignment to attributes of an object can violate a rule of its entity besides that a value is required, or
    /// concerns its class.
    func isChecked(_ entity: EntityIndex, at assigned: SlotMask) -> Bool {
        if isSaveAware[entity] { return true }
        return rules[entity].map { $0.isCustom || $0.attributes.contains { assigned.contains($0.slot) } } ?? false
    }

    /// Returns the declaration of a class with the inverses that only the other side names.
    private static func completing(_ declaration: Entity, _ entity: Entity) -> Entity {
        var declaration = declaration
        for (index, relationship) in declaration.relationships.enumerated() where relationship.inverse == nil {
            declaration.relationships[index].inverse = entity.relationships.first { $0.name == relationship.name }?.inverse
        }
        return declaration
    }

    /// Returns the first difference between the declaration of a class and that of the schema.
    private static func difference(_ declaration: Entity, _ entity: Entity) -> String {
        func difference<P: Equatable>(_ kind: String, _ declared: [P], _ expected: [P], _ name: (P) -> String) -> String? {
            for one in declared where !expected.contains(where: { name($0) == name(one) }) {
                return "the schema has no \(kind) \"\(name(one))\""
            }
            for one in expected where !declared.contains(where: { name($0) == name(one) }) {
                return "the class has no \(kind) \"\(name(one))\""
            }
            for (one, other) in zip(declared, expected) where name(one) != name(other) {
                return "the class declares \(kind) \"\(name(one))\" where the schema has \"\(name(other))\", and the order must be equal"
            }
            return zip(declared, expected).first { $0 != $1 }.map { "\(kind) \"\(name($0.0))\" has other settings" }
        }
        if declaration.parent != entity.parent { return "it has another parent" }
        if declaration.isAbstract != entity.isAbstract { return "only one of both is abstract" }
        return difference("attribute", declaration.attributes, entity.attributes, \.name)
            ?? difference("relationship", declaration.relationships, entity.relationships, \.name)
            ?? "its indexes, constraints or other settings differ"
    }

    /// Returns the first attribute whose initial value differs between two declarations of one class.
    private static func changingDefault(_ declaration: Entity, _ again: Entity) -> String? {
        zip(declaration.attributes, again.attributes).first { $0.defaultValue != $1.defaultValue }?.0.name
    }

    private static func inverse(_ name: String, in destination: EntityDescription) -> Inverse {
        guard let position = destination.relationships.firstIndex(where: { $0.relationship.name == name }) else { return .none }
        return switch destination.relationships[position].place {
        case .slot(let slot): .toOne(slot: slot)
        case .inverseSlot: .toMany(relationship: position)
        case .orderedInverseSlot(_, let link): .ordered(relationship: position, link: link)
        case .link: .none
        }
    }

    /// Returns the entity of a class.
    package func entity(of type: ManagedObject.Type) throws(StorageError) -> EntityIndex {
        if let index = entities[ObjectIdentifier(type)] { return index }
        let name = type.declaration.name
        throw StorageError(
            .invalidConfiguration,
            "class \(type) (entity \"\(name)\") is not part of this stack's model; add it to the models of the DataStack")
    }
}
