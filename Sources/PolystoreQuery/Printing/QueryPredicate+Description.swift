internal import PolystoreSchema

extension QueryPredicate {
    /// The predicate as text with `?` for its values.
    package var shape: String {
        isTooDeep ? description : PredicatePrinter(avoiding: variables, hidesValues: true).text(self)
    }
}

extension QueryExpression {
    /// The expression as text with `?` for its values.
    package var shape: String {
        isTooDeep ? description : PredicatePrinter(avoiding: variables, hidesValues: true).text(self)
    }
}

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
