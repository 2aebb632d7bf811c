/// Why a value cannot be stored, in every store alike.
public struct ValueError: Error, Sendable, Hashable {
    /// The kind of refusal.
    public enum Reason: Sendable, Hashable {
        /// The type or the content has no stored form: NaN, U+0000, a value of another type.
        case notStorable
        /// A number or date outside the range of the attribute's type.
        case outOfRange
        /// More bytes than the attribute may hold.
        case tooLarge
    }

    /// The kind of refusal.
    public let reason: Reason
    /// The entity, empty when it is not known.
    public var entity: String
    /// The attribute, empty when it is not known.
    public var attribute: String
    /// What was wrong, without the value itself.
    public let message: String

    /// A refusal with a sentence that does not contain the value.
    public init(_ reason: Reason, entity: String = "", attribute: String = "", _ message: String) {
        self.reason = reason
        self.entity = entity
        self.attribute = attribute
        self.message = message
    }
}
