package import PolystoreStorage

/// The differences between the SQL engines in tables as a person would declare them.
package struct PlainDialect: Sendable {
    /// The rules for names.
    let names: SQLNameRules
    /// The type and the constraint of the primary key.
    let key: String
    /// The type of a reference.
    let reference: String
    /// Returns the declared type of an attribute.
    let type: @Sendable (ValueType) -> String
    /// Returns a constant as SQL; nil for one that the engine would not read exactly.
    let constant: @Sendable (Value, ValueType) -> String?
    /// Returns whether a column stores a value exactly; nil for a type whose columns store all values.
    let stores: @Sendable (ValueType) -> (@Sendable (Cell) -> Bool)?
    /// Whether unique constraints and references are added to tables with rows. Otherwise they are part of a new table.
    let altersTables: Bool
    /// Whether an index needs a name.
    let namesIndexes: Bool

    /// Creates a dialect.
    package init(
        names: SQLNameRules, key: String, reference: String, type: @escaping @Sendable (ValueType) -> String,
        constant: @escaping @Sendable (Value, ValueType) -> String?,
        stores: @escaping @Sendable (ValueType) -> (@Sendable (Cell) -> Bool)?, altersTables: Bool, namesIndexes: Bool
    ) {
        self.names = names
        self.key = key
        self.reference = reference
        self.type = type
        self.constant = constant
        self.stores = stores
        self.altersTables = altersTables
        self.namesIndexes = namesIndexes
    }

    /// Returns a name as the engine compares it.
    package func folded(_ name: String) -> String {
        guard names.foldsCase else { return name }
        return String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { $0.isASCII ? $0.properties.lowercaseMapping.unicodeScalars.first ?? $0 : $0 }))
    }
}
