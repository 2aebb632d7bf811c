/// The expressions for the stored form of a value, by an engine.
package struct SQLStoredForm: Sendable {
    /// Returns the expression of a column's type as text.
    let type: @Sendable (String) -> String
    /// Returns the expression of a column's value as bytes. The second parameter is whether the column contains bytes.
    let bytes: @Sendable (String, Bool) -> String

    /// Creates the expressions of an engine.
    package init(type: @escaping @Sendable (String) -> String, bytes: @escaping @Sendable (String, Bool) -> String) {
        self.type = type
        self.bytes = bytes
    }
}
