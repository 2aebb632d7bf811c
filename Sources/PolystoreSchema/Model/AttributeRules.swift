/// What the values of an attribute must be, beside their type: checked at commit, all failures together. Nil keeps every rule.
public struct AttributeRules: Sendable, Hashable {
    /// The least value.
    public var minimum: Value?
    /// The greatest value.
    public var maximum: Value?
    /// The least length: Unicode scalars of a text, bytes of data.
    public var minLength: Int?
    /// The greatest length: Unicode scalars of a text, bytes of data.
    public var maxLength: Int?
    /// The regular expression that describes the whole text (`Pattern` says which forms there are).
    public var pattern: String?

    /// Rules; those that are left out allow everything.
    public init(
        minimum: Value? = nil, maximum: Value? = nil, minLength: Int? = nil, maxLength: Int? = nil, pattern: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minLength = minLength
        self.maxLength = maxLength
        self.pattern = pattern
    }

    /// Whether everything is allowed.
    public var isEmpty: Bool { self == AttributeRules() }
}

/// Says that an attribute of type `.string` holds the id of an object that may be in another store.
public struct CrossReference: Sendable, Hashable {
    /// The name of the entity that it leads to.
    public var destination: String
    /// What happens to the destination when the object with the attribute is deleted; `nullify` leaves it alone.
    public var deleteRule: DeleteRule
    /// What happens to the object with the attribute when the destination is deleted: the attribute becomes nil, the object goes too, or
    /// the deletion is refused.
    public var inverseDeleteRule: DeleteRule

    /// A reference; nullifying unless said otherwise.
    public init(to destination: String, deleteRule: DeleteRule = .nullify, inverseDeleteRule: DeleteRule = .nullify) {
        self.destination = destination
        self.deleteRule = deleteRule
        self.inverseDeleteRule = inverseDeleteRule
    }
}
