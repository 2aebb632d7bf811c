/// A JSON document with the line of each value. Numbers are kept as written.
public indirect enum JSONValue: Sendable, Hashable {
    /// The value `null`.
    case null
    /// The value `true` or `false`.
    case bool(Bool)
    /// A number as text, so that no digit is lost.
    case number(String)
    /// A string.
    case string(String)
    /// An array.
    case array([JSONNode])
    /// An object, with names and values in order of appearance.
    case object([JSONMember])
}

/// A JSON value and the line on which it begins.
public struct JSONNode: Sendable, Hashable {
    /// The value.
    public let value: JSONValue
    /// The line, counted from 1.
    public let line: Int

    /// Creates a node.
    public init(_ value: JSONValue, line: Int = 1) {
        self.value = value
        self.line = line
    }
}

/// A member of an object.
public struct JSONMember: Sendable, Hashable {
    /// The name of the member.
    public let name: String
    /// The value of the member.
    public let node: JSONNode
    /// The line of the name, counted from 1.
    public let line: Int
}

/// An error in a JSON text, with its location.
public struct JSONError: Error, Sendable, Hashable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in bytes, counted from 1.
    public let column: Int
    /// A message that states what was expected.
    public let message: String

    /// Creates an error at a location.
    public init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message.excerpt(ErrorText.longestMessage)
    }
}
