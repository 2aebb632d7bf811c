/// Rules for the values of an attribute in addition to its type. They are checked at commit, and all failures are reported together. Nil
/// satisfies every rule.
public struct AttributeRules: Sendable, Hashable {
    /// The minimum value.
    public var minimum: Value?
    /// The maximum value.
    public var maximum: Value?
    /// The minimum length: Unicode scalars of a string, bytes of data.
    public var minLength: Int?
    /// The maximum length: Unicode scalars of a string, bytes of data.
    public var maxLength: Int?
    /// The regular expression that the whole string must match. `Pattern` documents the supported syntax.
    public var pattern: String?

    /// Creates rules. An omitted rule allows every value.
    public init(
        minimum: Value? = nil, maximum: Value? = nil, minLength: Int? = nil, maxLength: Int? = nil, pattern: String? = nil
    ) {
        self.minimum = minimum
        self.maximum = maximum
        self.minLength = minLength
        self.maxLength = maxLength
        self.pattern = pattern
    }

    /// Whether every value is allowed.
    public var isEmpty: Bool { self == AttributeRules() }
}
