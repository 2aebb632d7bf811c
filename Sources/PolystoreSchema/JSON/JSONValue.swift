/// A JSON document with the line of each value. Numbers are kept as written.
package indirect enum JSONValue: Sendable, Hashable {
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
package struct JSONNode: Sendable, Hashable {
    /// The value.
    package let value: JSONValue
    /// The line, counted from 1.
    package let line: Int

    /// Creates a node.
    package init(_ value: JSONValue, line: Int = 1) {
        self.value = value
        self.line = line
    }
}

/// A member of an object.
package struct JSONMember: Sendable, Hashable {
    /// The name of the member.
    package let name: String
    /// The value of the member.
    package let node: JSONNode
    /// The line of the name, counted from 1.
    package let line: Int
}

/// An error in a JSON text, with its location.
package struct JSONError: Error, Sendable, Hashable {
    /// The line, counted from 1.
    package let line: Int
    /// The column in bytes, counted from 1.
    package let column: Int
    /// A message that states what was expected.
    package let message: String

    /// Creates an error at a location.
    package init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message.excerpt(ErrorText.longestMessage)
    }
}
