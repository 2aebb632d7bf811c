public import PolystoreSchema

/// A class that stands for an entity, as macro and generator describe it: everything that the expansion needs.
public struct ModelClass: Sendable, Hashable {
    /// One stored property.
    public struct Property: Sendable, Hashable {
        /// What the property is.
        public enum Kind: Sendable, Hashable {
            /// An attribute of a Swift type.
            case attribute
            /// A relationship to at most one object of a class.
            case toOne
            /// A relationship to a set of objects.
            case toMany
            /// A relationship to a list of objects.
            case toManyOrdered
        }

        /// The Swift name.
        public var name: String
        /// The stored name.
        public var key: String
        /// What it is.
        public var kind: Kind
        /// The Swift type of an attribute, or the class at the other end.
        public var type: String
        /// The stored type of an attribute as the generator knows it; the macro leaves it to the compiler.
        public var valueType: String?
        /// The expression that a new object starts with; nil for the placeholder of the type.
        public var defaultValue: String?
        /// The raw values that the attribute allows, as Swift expressions; the macro leaves them to the compiler.
        public var allowedValues: [String]
        /// The name of the attribute's coder.
        public var coder: String?
        /// Whether the initial value is computed for each object, so that it is not part of the declaration.
        public var isInitialPerObject = false
        /// The rules of the attribute as arguments of `AttributeRules`, such as `minimum: .int(0)`.
        public var rules: [String] = []
        /// What a reference into another store leads to, as arguments of `CrossReference`.
        public var crossReference: [String] = []
        /// What the history says about the attribute, as a case of `AttributeHistory`; nil for the usual.
        public var history: String?
        /// How many objects a to-many may lead to, as arguments of `Relationship`.
        public var counts: [String] = []
        /// The stored name of the destination's entity.
        public var destination: String?
        /// The stored name of the relationship at the other end.
        public var inverse: String?
        /// `nullify`, `cascade` or `deny`.
        public var deleteRule: String
        /// Whether a to-one must lead somewhere.
        public var isRequired: Bool
        /// Whether the attribute is part of an index or a unique constraint, so that its bytes have a limit.
        public var isIndexed: Bool
        /// The name in the previous version.
        public var originalName: String?
        /// The access of the property as it is written, empty for none; nil for that of the class.
        public var access: String?

        /// A property.
        public init(
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

    /// The Swift name.
    public var name: String
    /// The stored name of the entity.
    public var entity: String
    /// The superclass; `ManagedObject` for a root.
    public var superclass: String
    /// `public`, `package` or nothing.
    public var access: String
    /// Whether only subclasses have objects.
    public var isAbstract: Bool
    /// The properties in order of declaration.
    public var properties: [Property]
    /// Indexes, of stored names.
    public var indexes: [Index]
    /// Unique constraints as lists of stored names.
    public var uniqueConstraints: [[String]]
    /// The name of the entity in the previous version.
    public var originalName: String?

    /// A class.
    public init(
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

    /// Whether every object has a member of this name, so that no property can.
    public static func isTaken(_ name: String) -> Bool { Names.usedMembers.contains(name) }

    /// The properties with a slot, in the order of slots: attributes, then to-one relationships.
    var slots: [Property] { properties.filter { $0.kind == .attribute } + properties.filter { $0.kind == .toOne } }
}
