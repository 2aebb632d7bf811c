/// What of somebody else's database is left out or read otherwise than it is declared.
public struct CatalogRemark: Sendable, ExpressibleByStringInterpolation {
    /// The sentence, for people to read.
    public let text: String
    /// What is stored there and not read: `table` or `table.column`; nil where no value is lost.
    public let loss: String?

    /// A remark; about a loss if it names one.
    public init(_ text: String, loss: String? = nil) {
        self.text = text
        self.loss = loss
    }

    /// A remark about no loss.
    public init(stringLiteral text: String) { self.init(text) }
}
