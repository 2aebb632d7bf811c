/// A request for values instead of objects.
package struct QueryRequest: Sendable, Hashable {
    /// The objects that the query reads. Their order, limit and offset apply to the rows of the answer.
    ///
    /// Beside aggregates, the answer is ordered by grouping keys, aggregates, and aliases of outputs.
    package var fetch: ObjectRequest
    /// The values of each row of the answer.
    package var outputs: [QueryOutput]
    /// The grouping keys.
    package var groupBy: [QueryExpression]
    /// The condition on groups: on grouping keys, aggregates, and aliases of outputs.
    package var having: QueryPredicate?
    /// Whether equal rows of an answer without aggregates are merged into one.
    package var isDistinct: Bool

    /// Creates a request for values.
    package init(
        _ fetch: ObjectRequest, outputs: [QueryOutput], groupBy: [PropertyPath] = [], having: QueryPredicate? = nil,
        isDistinct: Bool = false
    ) {
        self.init(fetch, outputs: outputs, groupBy: groupBy.map(QueryExpression.path), having: having, isDistinct: isDistinct)
    }

    /// Creates a request for values, grouped by expressions.
    package init(
        _ fetch: ObjectRequest, outputs: [QueryOutput], groupBy: [QueryExpression], having: QueryPredicate? = nil, isDistinct: Bool = false
    ) {
        self.fetch = fetch
        self.outputs = outputs
        self.groupBy = groupBy
        self.having = having
        self.isDistinct = isDistinct
    }
}
