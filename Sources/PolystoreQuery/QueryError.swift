internal import PolystoreSchema

/// An error of a request: a name, type or number that is invalid for a schema, with the most similar valid element.
public struct QueryError: Error, Sendable, Hashable {
    /// The kind of error.
    public enum Reason: Sendable, Hashable {
        /// A name, a type or a structure that the schema does not allow.
        case invalid
        /// A tree that is deeper or larger than the limits.
        case tooComplex
        /// A number outside the range of its type.
        case arithmeticOverflow
        /// A division by zero.
        case divisionByZero
        /// A stored value that is invalid for its type.
        case illFormed
    }

    /// The kind of error.
    public let reason: Reason
    /// The key path at fault, empty when there is none.
    public let path: String
    /// A description of the fault and the most similar valid element.
    public let message: String

    /// Creates an error.
    public init(_ reason: Reason, path: String = "", _ message: String) {
        self.reason = reason
        self.path = path.excerpt(ErrorText.longestPath)
        self.message = message.excerpt(ErrorText.longestMessage)
    }

    /// Creates an error for a request that is invalid for the schema.
    public init(path: String = "", _ message: String) { self.init(.invalid, path: path, message) }
}
