package import PolystoreSchema

/// The description of a class that represents an entity, as the macro and the generator provide it. It contains everything that the
/// expansion needs.
package struct ModelClass: Sendable, Hashable {
    /// A stored property.
    package struct Property: Sendable, Hashable {
        /// The kind of a property.
        package enum Kind: Sendable, Hashable {
            /// An attribute of a Swift type.
            case attribute
            /// A relationship to at most one object of a class.
            case toOne
            /// A relationship to a set of objects.
            case toMany
            /// A relationship to an ordered list of objects.
            case toManyOrdered
        }

        /// The Swift name.
        package var name: String
        /// The stored name of the property.
        package var key: String
        /// The kind of the property.
        package var kind: Kind
        /// The Swift type of an attribute, or the destination class of a relationship.
        package var type: String
        /// The stored type of an attribute, if known. The generator sets it; the macro leaves it to the compiler.
        package var valueType: String?
        /// The expression for the value of a new object, or nil for the placeholder of the type.
        package var defaultValue: String?
        /// The allowed raw values of the attribute as Swift expressions. The macro leaves them to the compiler.
        package var allowedValues: [String]
        /// The name of the attribute's coder.
        package var coder: String?
        /// Whether the initial value is computed for each object and is therefore not part of the declaration.
        package var isInitialPerObject = false
        /// The rules of the attribute as arguments of `AttributeRules`, such as `minimum: .int(0)`.
        package var rules: [String] = []
        /// The reference into another store, as arguments of `CrossReference`.
        package var crossReference: [String] = []
        /// The treatment of the attribute in the history, as a case of `AttributeHistory`. Nil for the default.
        package var history: String?
        /// The limits of the number of destinations of a to-many relationship, as arguments of `Relationship`.
        package var counts: [String] = []
        /// The stored name of the destination entity.
        package var destination: String?
        /// The stored name of the inverse relationship, or the key path to it, whose stored name is found when the program runs.
        package var inverse: String?
        /// The delete rule: `nullify`, `cascade`, or `deny`.
        package var deleteRule: String
        /// Whether a to-one relationship requires a destination.
        package var isRequired: Bool
        /// Whether the attribute is part of an index or a unique constraint, so that the size of its values is limited.
        package var isIndexed: Bool
        /// The stored name in the previous version.
        package var originalName: String?
        /// The access modifier of the property as written, or an empty string for none. Nil for the access of the class.
        package var access: String?

        /// Creates a property.
        package init(
            _ name: String, key: String? = nil, kind: Kind = .attribute, type: String, valueType: String? = nil,
            defaultValue: String? = nil, allowedValues: [String] = [], coder: String? = nil, destination: String? = nil,
            inverse: String? = nil, deleteRule: String = "nullify",
            isRequired: Bool = false, isIndexed: Bool = false, originalName: String? = nil
        ) {
            self.name = name
            self.key = key ?? name
            self.kind = kind
            self.type = type
            self.valueType = valueType
            self.defaultValue = defaultValue
            self.allowedValues = allowedValues
            self.coder = coder
            self.destination = destination
            self.inverse = inverse
            self.deleteRule = deleteRule
            self.isRequired = isRequired
            self.isIndexed = isIndexed
            self.originalName = originalName
        }
    }

    /// The Swift name of the class.
    package var name: String
    /// The stored name of the entity.
    package var entity: String
    /// The superclass, which is `ManagedObject` for a root.
    package var superclass: String
    /// The access modifier: `public`, `package`, or an empty string.
    package var access: String
    /// Whether only subclasses can have objects.
    package var isAbstract: Bool
    /// The properties, in order of declaration.
    package var properties: [Property]
    /// The indexes, with stored names.
    package var indexes: [Index]
    /// The unique constraints, as lists of stored names.
    package var uniqueConstraints: [[String]]
    /// The name of the entity in the previous version, if it was renamed.
    package var originalName: String?

    /// Creates the description of a class.
    package init(
        _ name: String, entity: String? = nil, superclass: String = "ManagedObject", access: String = "", isAbstract: Bool = false,
        properties: [Property] = [], indexes: [Index] = [], uniqueConstraints: [[String]] = [], originalName: String? = nil
    ) {
        self.name = name
        self.entity = entity ?? name
        self.superclass = superclass
        self.access = access
        self.isAbstract = isAbstract
        self.properties = properties
        self.indexes = indexes
        self.uniqueConstraints = uniqueConstraints
        self.originalName = originalName
    }

    /// Returns whether every object has a member of this name, so that a property cannot have it.
    package static func isTaken(_ name: String) -> Bool { Names.usedMembers.contains(name) }

    /// The properties with a slot, in slot order: attributes, then to-one relationships.
    var slots: [Property] { properties.filter { $0.kind == .attribute } + properties.filter { $0.kind == .toOne } }
}
