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
