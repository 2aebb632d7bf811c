package import PolystoreStorage

/// A foreign key: columns that refer to a row of another table.
package struct CatalogForeignKey: Sendable {
    /// The columns.
    package var columns: [String]
    /// The name of the other table.
    package var table: String
    /// The referenced columns of the other table, in the same order.
    package var references: [String]
    /// The effect on the referring rows of deleting the row that they refer to.
    package var deleteRule: DeleteRule
    /// Whether every reference is guaranteed to have its row.
    package var isTrusted: Bool
    /// Whether the columns have the same type as the referenced columns.
    package var isTyped: Bool

    /// Creates a foreign key.
    package init(columns: [String], table: String, references: [String], deleteRule: DeleteRule, isTrusted: Bool, isTyped: Bool) {
        self.columns = columns
        self.table = table
        self.references = references
        self.deleteRule = deleteRule
        self.isTrusted = isTrusted
        self.isTyped = isTyped
    }
}
