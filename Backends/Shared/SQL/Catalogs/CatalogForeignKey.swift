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

    /// Returns the statement that counts the rows of a table that refer to a missing row of another table.
    package func countOfMissing(_ table: CatalogTable, _ other: CatalogTable) -> SQLText {
        let present = columns.map { "t.\(SQLText.quoted($0)) IS NOT NULL" }.joined(separator: " AND ")
        let equal = zip(references, columns).map { "o.\(SQLText.quoted($0)) = t.\(SQLText.quoted($1))" }.joined(separator: " AND ")
        return """
            SELECT count(*) FROM \(raw: table.source) AS t WHERE \(raw: present) AND NOT EXISTS \
            (SELECT 1 FROM \(raw: other.source) AS o WHERE \(raw: equal))
            """
    }

    /// Returns the remark on a number of rows of a table that refer to a missing row.
    package func remark(missing count: Int64, _ table: CatalogTable) -> CatalogRemark {
        CatalogRemark(
            "\(count) rows of \(table.name) refer by \(columns.joined(separator: ", ")) to missing rows of \(self.table), which are read as nil",
            loss: "\(table.name).\(columns.joined(separator: ","))")
    }
}
