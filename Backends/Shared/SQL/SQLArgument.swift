package import PolystoreStorage

/// An argument of a function or an aggregate, as SQL.
package struct SQLArgument: Sendable {
    /// The value.
    package let text: SQLText
    /// The type of the value.
    package let type: ValueType

    /// Creates an argument.
    package init(_ text: SQLText, _ type: ValueType) {
        self.text = text
        self.type = type
    }
}
