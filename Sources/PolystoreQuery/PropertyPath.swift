/// The names from an entity to a property: to-one relationships, then the property itself.
public struct PropertyPath: Sendable, Hashable, CustomStringConvertible {
    /// The stored names, outermost first.
    public var names: [String]

    /// The object itself: its key.
    public static let object = PropertyPath(["SELF"])

    /// A path from its names.
    public init(_ names: [String]) { self.names = names }

    /// A path from its text, names separated by dots.
    public init(_ text: String) { names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }

    /// The names separated by dots.
    public var description: String { names.joined(separator: ".") }
}

extension PropertyPath: ExpressibleByStringLiteral {
    /// A path from a literal, names separated by dots.
    public init(stringLiteral value: String) { self.init(value) }
}
