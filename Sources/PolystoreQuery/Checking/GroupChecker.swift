internal import PolystoreSchema

/// Checks a grouped query: rewrites outputs, conditions and order as expressions on a row of the keys and aggregates of a group.
struct GroupChecker: QueryRewriter {
    private let request: QueryRequest
    private let keys: [QueryExpression]
    private let expressions: ExpressionChecker
    private var checkedKeys: [CheckedExpression] = []
    private var aggregates: [CheckedAggregate] = []
    /// Whether a name is resolved first as the alias of an output: in the condition and the order, but not within an output.
    private var seesAliases = false

    init(_ request: QueryRequest, _ keys: [QueryExpression], _ expressions: ExpressionChecker) {
        self.request = request
        self.keys = keys
        self.expressions = expressions
    }

    mutating func grouping() throws(QueryError) -> QueryPlan.Grouping {
        checkedKeys = try keys.mapChecked { key throws(QueryError) in try expressions.check(key) }
        var outputs: [QueryExpression] = []
        for output in request.outputs { outputs.append(try rewritten(output.expression, 0)) }
        seesAliases = true
        let having = try request.having.map { having throws(QueryError) in try rewritten(having, 0) }
        var sort: [(QueryExpression, Bool)] = []
        for key in request.fetch.order { sort.append((try rewritten(key.expression, 0), key.ascending)) }
        let types = checkedKeys.map(\.type) + aggregates.map(\.type)
        let schema = QueryPlan.Grouping.schema(types)
        let group = PredicateChecker(schema: schema, entity: 0)
        let checkedSort = try sort.mapChecked { key throws(QueryError) in
            CheckedSort(try group.expressions.check(key.0), ascending: key.1)
        }
        return QueryPlan.Grouping(
            keys: checkedKeys, aggregates: aggregates,
            outputs: try outputs.mapChecked { output throws(QueryError) in try group.expressions.check(output) },
            having: try having.map { having throws(QueryError) in try group.check(having) } ?? .constant(true),
            // Without explicit grouping keys, the rows are grouped by their outputs.
            isDistinct: request.isDistinct && !request.groupBy.isEmpty, sort: checkedSort,
            limit: request.fetch.limit, offset: request.fetch.offset)
    }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        if seesAliases, case .path(let path) = expression.node, let output = request.outputs.first(where: { $0.alias == path.description })
        {
            seesAliases = false
            defer { seesAliases = true }
            return try rewritten(output.expression, depth)
        }
        if let key = keys.firstIndex(of: expression) { return .path(QueryPlan.Grouping.name(key)) }
        switch expression.node {
        case .path(let path):
            let checked = try expressions.check(expression)
            if let key = checkedKeys.firstIndex(where: { $0.isSame(as: checked) }) { return .path(QueryPlan.Grouping.name(key)) }
            throw QueryError(path: path.description, "a property that is selected with an aggregate must be a grouping key")
        // Neither is valid here; the checker reports it.
        case .outer, .variable:
            _ = try expressions.check(expression)
            return expression
        case .aggregate(let aggregate): return .path(QueryPlan.Grouping.name(keys.count + (try position(aggregate))))
        case .value, .function, .conditional: return try rebuilt(expression, depth)
        case .related(let aggregate):
            throw QueryError(
                path: aggregate.relationship.description,
                "an aggregate over related objects that is selected with an aggregate over the group must be a grouping key")
        }
    }

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        switch predicate.node {
        case .open(_, _, let variable): throw PredicateChecker.open(variable)
        case .related, .quantified, .isEntity: throw QueryError("a condition on groups can contain only grouping keys and aggregates")
        case .constant, .compare, .isIn, .between, .text, .and, .or, .not: return try rebuilt(predicate, depth)
        }
    }

    /// Returns the position of an aggregate among those of the groups, and adds it if it is missing.
    private mutating func position(_ aggregate: Aggregate) throws(QueryError) -> Int {
        let argument = try aggregate.argument.map { argument throws(QueryError) in try expressions.check(argument) }
        let type = try expressions.paths.checkAggregate(aggregate.function, argument)
        let checked = CheckedAggregate(aggregate.function, argument, type)
        if let known = aggregates.firstIndex(of: checked) { return known }
        aggregates.append(checked)
        return aggregates.count - 1
    }
}
