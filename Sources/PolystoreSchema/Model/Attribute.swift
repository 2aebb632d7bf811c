/// An attribute of an entity: its stored name, its type, and its rules.
public struct Attribute: Sendable, Hashable {
    /// The stored name.
    public var name: String
    /// The type.
    public var type: ValueType
    /// Whether nil is allowed. Required attributes are checked at commit.
    public var isOptional: Bool
    /// The value of a new object, or nil for none.
    public var defaultValue: Value?
    /// The allowed raw values of an enumeration, in order of declaration. Empty if values are not restricted.
    public var allowedValues: [Value]
    /// The name of the coder of a coded attribute, whose type is `.data` or `.string`. Nil for an attribute without a coder.
    public var coder: String?
    /// The rules that values must satisfy in addition to having the right type.
    public var rules: AttributeRules
    /// The reference into another store that the attribute contains, or nil for other attributes.
    public var crossReference: CrossReference?
    /// The treatment of the attribute in the history of a store.
    public var history: AttributeHistory
    /// The name of the attribute in the previous version, if it was renamed.
    public var originalName: String?

    /// Creates an attribute. Only `name` and `type` are required.
    public init(
        _ name: String, _ type: ValueType, isOptional: Bool = false, defaultValue: Value? = nil, allowedValues: [Value] = [],
        coder: String? = nil, rules: AttributeRules = AttributeRules(), crossReference: CrossReference? = nil,
        history: AttributeHistory = .recorded, originalName: String? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.allowedValues = allowedValues
        self.coder = coder
        self.rules = rules
        self.crossReference = crossReference
        self.history = history
        self.originalName = originalName
    }
}
