/// The reason why no store can store a value.
public struct ValueError: Error, Sendable, Hashable {
    /// The kind of a refusal.
    public enum Reason: Sendable, Hashable {
        /// The type or the content has no stored form: NaN, U+0000, a value of another type.
        case notStorable
        /// A number or date is outside the range of the attribute's type.
        case outOfRange
        /// The value has more bytes than the attribute allows.
        case tooLarge
    }

    /// The kind of the refusal.
    public let reason: Reason
    /// The entity, or an empty string if it is not known.
    public var entity: String
    /// The attribute, or an empty string if it is not known.
    public var attribute: String
    /// A sentence that describes the problem without the value itself.
    public let message: String

    /// Creates a refusal. The message must not contain the value.
    public init(_ reason: Reason, entity: String = "", attribute: String = "", _ message: String) {
        self.reason = reason
        self.entity = entity
        self.attribute = attribute
        self.message = message
    }
}
