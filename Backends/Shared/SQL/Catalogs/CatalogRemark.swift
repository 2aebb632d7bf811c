/// A remark on a part of a foreign database that is left out or read differently from its declaration.
package struct CatalogRemark: Sendable, ExpressibleByStringInterpolation {
    /// The text of the remark, for people to read.
    package let text: String
    /// The stored data that is not read, as `table` or `table.column`; nil where no value is lost.
    package let loss: String?

    /// Creates a remark, which reports a loss if `loss` is not nil.
    package init(_ text: String, loss: String? = nil) {
        self.text = text
        self.loss = loss
    }

    /// Creates the remark on a table whose name equals that of another one but for the Unicode normalization, so that both cannot be entities.
    package static func twin(_ table: String) -> CatalogRemark {
        CatalogRemark("the table \(table) is left out: its name differs from that of another table only in its normalization", loss: table)
    }

    /// Creates a remark that reports no loss.
    package init(stringLiteral text: String) { self.init(text) }
}
