/// An attribute of an entity: its stored name, type and rules.
public struct Attribute: Sendable, Hashable {
    /// The stored name.
    public var name: String
    /// The type.
    public var type: ValueType
    /// Whether nil is allowed. Required attributes are checked at commit.
    public var isOptional: Bool
    /// The value that a new object starts with; nil for none.
    public var defaultValue: Value?
    /// The allowed raw values of an enum, in order of declaration; empty for no restriction.
    public var allowedValues: [Value]
    /// The name of the coder of a coded attribute, whose type is `.data` or `.string`; nil for plain ones.
    public var coder: String?
    /// What values must be beside their type.
    public var rules: AttributeRules
    /// What a reference into another store leads to; nil for plain attributes.
    public var crossReference: CrossReference?
    /// What the history of a store says about the attribute.
    public var history: AttributeHistory
    /// The name that the attribute had in the previous version, when it was renamed.
    public var originalName: String?

    /// An attribute; `name` and `type` suffice.
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

/// What the history of a store says about an attribute. As it changes nothing in how objects are stored, it is no part of a model's hash.
public enum AttributeHistory: String, Sendable, Hashable, CaseIterable {
    /// An update names the attribute where it changed; values are not kept.
    case recorded
    /// Beside that, a deletion keeps the last value, so that whoever reads the history knows what was deleted (Core Data's "preserve after
    /// deletion").
    case preserved
    /// The history never names the attribute, and never has a value of it.
    case excluded
}
