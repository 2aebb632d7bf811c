/// The names from an entity to a property: to-one relationships, then the property itself.
public struct PropertyPath: Sendable, Hashable, CustomStringConvertible {
    /// The stored names, outermost first.
    public var names: [String]

    /// The object itself, whose value is its key.
    public static let object = PropertyPath(["SELF"])

    /// Creates a path from its names.
    public init(_ names: [String]) { self.names = names }

    /// Creates a path from its text, with names separated by dots.
    public init(_ text: String) { names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }

    /// The names separated by dots.
    public var description: String { names.joined(separator: ".") }
}

extension PropertyPath: ExpressibleByStringLiteral {
    /// Creates a path from a literal, with names separated by dots.
    public init(stringLiteral value: String) { self.init(value) }
}
