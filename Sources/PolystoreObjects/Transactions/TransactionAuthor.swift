/// The author of a transaction: a name that the history records, by which readers distinguish their own transactions from those of other
/// authors.
///
/// ```swift
/// extension TransactionAuthor {
///     static var networkSync: TransactionAuthor { "networkSync" }
/// }
/// try await stack.perform(author: .networkSync) { transaction in … }
/// ```
public struct TransactionAuthor: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The absence of an author.
    public static let none: TransactionAuthor = ""

    /// The name.
    public let name: String

    /// Creates an author with a name.
    public init(_ name: String) { self.name = name }

    /// Creates an author with a name.
    public init(stringLiteral name: String) { self.init(name) }

    /// The name.
    public var description: String { name }
}

/// Encoded as the name.
extension TransactionAuthor: Codable {
    /// Decodes an author from a name.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}
