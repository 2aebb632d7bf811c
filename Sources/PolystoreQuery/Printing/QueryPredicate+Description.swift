internal import PolystoreSchema

extension QueryPredicate: CustomStringConvertible {
    /// The predicate as text, from which `init(parsing:)` creates an equal one. For one that is too deep, the text states this.
    public var description: String {
        isTooDeep ? "a predicate of more than \(Self.deepest) levels" : PredicatePrinter(avoiding: variables).text(self)
    }
}

extension QueryExpression: CustomStringConvertible {
    /// The expression as text, from which `init(parsing:)` creates an equal one. For one that is too deep, the text states this.
    public var description: String {
        isTooDeep ? "an expression of more than \(QueryPredicate.deepest) levels" : PredicatePrinter(avoiding: variables).text(self)
    }
}
