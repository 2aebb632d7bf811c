/// Who writes: a name that the history keeps, and by which its readers tell their own work from that of others.
///
/// ```swift
/// extension TransactionAuthor {
///     static var networkSync: TransactionAuthor { "networkSync" }
/// }
/// try await stack.perform(author: .networkSync) { transaction in … }
/// ```
public struct TransactionAuthor: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Nobody in particular.
    public static let none: TransactionAuthor = ""

    /// The name.
    public let name: String

    /// An author of a name.
    public init(_ name: String) { self.name = name }

    /// An author of a name.
    public init(stringLiteral name: String) { self.init(name) }

    /// The name.
    public var description: String { name }
}

/// Coded as the name.
extension TransactionAuthor: Codable {
    /// An author from a name.
    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    /// Encodes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }
}
