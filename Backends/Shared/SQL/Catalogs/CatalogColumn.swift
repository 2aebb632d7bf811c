package import PolystoreStorage

/// A column of a foreign table.
package struct CatalogColumn: Sendable {
    /// The name.
    package var name: String
    /// The type of its values in the schema.
    package var type: ValueType
    /// The value converted to that type, as SQL over the table `t`. A value without such a form must cause an error and must not become
    /// another value.
    package var value: String
    /// Whether the column may be nil.
    package var isOptional: Bool
    /// The maximum number of characters of a text; nil for no limit.
    package var maxLength: Int?
    /// The allowed values; empty for no such restriction.
    package var allowedValues: [String]
    /// Whether the database compares the texts of the column by their bytes: a list of texts in a condition means these texts alone.
    package var comparesBytes: Bool
    /// The value of a row that omits the column, if it is a literal.
    package var defaultValue: Value?
    /// A function that converts the SQL of a Polystore value to the form of the column; nil where the two forms are the same.
    package var stored: (@Sendable (String) -> String)?

    /// Creates a column.
    package init(
        _ name: String, _ type: ValueType, value: String, isOptional: Bool, maxLength: Int? = nil, allowedValues: [String] = [],
        comparesBytes: Bool = true, stored: (@Sendable (String) -> String)? = nil
    ) {
        self.stored = stored
        self.name = name
        self.type = type
        self.value = value
        self.isOptional = isOptional
        self.maxLength = maxLength
        self.allowedValues = allowedValues
        self.comparesBytes = comparesBytes
    }
}
