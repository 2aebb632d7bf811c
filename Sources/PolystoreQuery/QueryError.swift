internal import PolystoreSchema

/// Why a request means nothing for a schema: a wrong name, type or number, with the nearest right thing.
public struct QueryError: Error, Sendable, Hashable {
    /// The kind of refusal.
    public enum Reason: Sendable, Hashable {
        /// A name, a type or a shape that the schema does not allow.
        case invalid
        /// A tree that is deeper or larger than the limits.
        case tooComplex
        /// A number left the range of its type.
        case arithmeticOverflow
        /// A number was divided by zero.
        case divisionByZero
        /// A stored value is none of its type.
        case illFormed
    }

    /// The kind of refusal.
    public let reason: Reason
    /// The key path at fault, empty when there is none.
    public let path: String
    /// What is wrong and the nearest right thing.
    public let message: String

    /// A refusal.
    public init(_ reason: Reason, path: String = "", _ message: String) {
        self.reason = reason
        self.path = path.excerpt(ErrorText.longestPath)
        self.message = message.excerpt(ErrorText.longestMessage)
    }

    /// A refusal of a request that means nothing for the schema.
    public init(path: String = "", _ message: String) { self.init(.invalid, path: path, message) }
}
