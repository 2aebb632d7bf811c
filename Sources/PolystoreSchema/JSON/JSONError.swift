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
