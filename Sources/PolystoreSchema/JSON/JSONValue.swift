/// A JSON document with the place of each value, numbers as they were written.
public indirect enum JSONValue: Sendable, Hashable {
    /// null.
    case null
    /// true or false.
    case bool(Bool)
    /// A number as its text, so that no digit is lost.
    case number(String)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONNode])
    /// Names and values in order of appearance.
    case object([JSONMember])
}

/// A value and the line on which it begins.
public struct JSONNode: Sendable, Hashable {
    /// The value.
    public let value: JSONValue
    /// The line, counted from 1.
    public let line: Int

    /// A value at a line.
    public init(_ value: JSONValue, line: Int = 1) {
        self.value = value
        self.line = line
    }
}

/// One member of an object.
public struct JSONMember: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public let node: JSONNode
    /// The line of the name.
    public let line: Int
}

/// What is wrong with a JSON text, and where.
public struct JSONError: Error, Sendable, Hashable {
    /// The line, counted from 1.
    public let line: Int
    /// The column in bytes, counted from 1.
    public let column: Int
    /// What was expected.
    public let message: String

    /// An error at a place.
    public init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message.excerpt(ErrorText.longestMessage)
    }
}
