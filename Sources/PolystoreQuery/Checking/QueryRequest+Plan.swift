public import PolystoreSchema

extension QueryRequest {
    /// The request checked against a schema and normalised: what stores receive.
    ///
    /// - Throws: `QueryError` naming what is wrong; a plain property beside an aggregate must be among the grouping keys, and aliases must
    ///   differ.
    public func plan(in schema: Schema) throws(QueryError) -> QueryPlan {
        guard !outputs.isEmpty else { throw QueryError("a query needs at least one output") }
        var seen: Set<String> = []
        for output in outputs where !seen.insert(output.alias).inserted {
            throw QueryError(path: output.alias, "two outputs are called \"\(output.alias.excerpt())\"; name one with another alias")
        }
        let outputs = outputsOfObjects(in: schema)
        let isGrouped = !groupBy.isEmpty || having != nil || outputs.contains { $0.expression.hasAggregate } || isDistinct
        guard isGrouped else {
            let plan = try fetch.plan(in: schema)
            let expressions = PredicateChecker(schema: schema, entity: plan.entity).expressions
            return QueryPlan(
                fetch: plan, kind: .rows(try outputs.mapChecked { output throws(QueryError) in try expressions.check(output.expression) }))
        }
        var rows = fetch
        rows.order = []
        rows.limit = nil
        rows.offset = 0
        let plan = try rows.plan(in: schema)
        if let limit = fetch.limit, limit < 0 { throw QueryError("a limit cannot be negative") }
        if fetch.offset < 0 { throw QueryError("an offset cannot be negative") }
        let keys = isDistinct && groupBy.isEmpty ? outputs.map(\.expression).filter { !$0.hasAggregate } : groupBy
        var request = self
        request.outputs = outputs
        var checker = GroupChecker(request, keys, PredicateChecker(schema: schema, entity: plan.entity).expressions)
        return QueryPlan(fetch: plan, kind: .groups(try checker.grouping()))
    }
}

extension QueryRequest {
    /// The outputs; an aggregate over a to-many relationship is one of each object.
    private func outputsOfObjects(in schema: Schema) -> [QueryOutput] {
        guard let entity = schema.index(of: fetch.entity) else { return outputs }
        let paths = PathChecker(schema: schema)
        return outputs.map { output in
            guard case .aggregate(let aggregate) = output.expression.node, case .path(let path)? = aggregate.argument?.node,
                let split = path.names.indices.first(where: { paths.isToMany(PropertyPath(Array(path.names[...$0])), from: entity) })
            else { return output }
            let rest = path.names[(split + 1)...]
            let related = RelatedAggregate(
                aggregate.function, PropertyPath(Array(path.names[...split])), rest.isEmpty ? nil : PropertyPath(Array(rest)))
            return QueryOutput(.related(related), as: output.alias)
        }
    }
}

/// Checks what is asked of groups: outputs, conditions and order are written as ones on a row of the keys and aggregates of a group.
struct GroupChecker {
    private let request: QueryRequest
    private let keys: [QueryExpression]
    private let expressions: ExpressionChecker
    private var checkedKeys: [CheckedExpression] = []
    private var aggregates: [CheckedAggregate] = []

    init(_ request: QueryRequest, _ keys: [QueryExpression], _ expressions: ExpressionChecker) {
        self.request = request
        self.keys = keys
        self.expressions = expressions
    }

    mutating func grouping() throws(QueryError) -> QueryPlan.Grouping {
        checkedKeys = try keys.mapChecked { key throws(QueryError) in try expressions.check(key) }
        var outputs: [QueryExpression] = []
        for output in request.outputs { outputs.append(try rewritten(output.expression, aliases: false)) }
        let having = try request.having.map { having throws(QueryError) in try rewritten(having) }
        var sort: [(QueryExpression, Bool)] = []
        for key in request.fetch.order { sort.append((try rewritten(key.expression, aliases: true), key.ascending)) }
        let types = checkedKeys.map(\.type) + aggregates.map(\.type)
        let schema = GroupAnswer.schema(types)
        let group = PredicateChecker(schema: schema, entity: 0)
        let checkedSort = try sort.mapChecked { key throws(QueryError) in
            CheckedSort(try group.expressions.check(key.0), ascending: key.1)
        }
        return QueryPlan.Grouping(
            keys: checkedKeys, aggregates: aggregates,
            outputs: try outputs.mapChecked { output throws(QueryError) in try group.expressions.check(output) },
            having: try having.map { having throws(QueryError) in try group.check(having) } ?? .constant(true),
            // Without grouping keys of its own the rows are grouped by what they are.
            isDistinct: request.isDistinct && !request.groupBy.isEmpty, sort: checkedSort,
            limit: request.fetch.limit, offset: request.fetch.offset)
    }

    /// An expression as one on the row of a group.
    private mutating func rewritten(_ expression: QueryExpression, aliases: Bool) throws(QueryError) -> QueryExpression {
        if aliases, case .path(let path) = expression.node, let output = request.outputs.first(where: { $0.alias == path.description }) {
            return try rewritten(output.expression, aliases: false)
        }
        if let key = keys.firstIndex(of: expression) { return .path(GroupAnswer.name(key)) }
        switch expression.node {
        case .value: return expression
        case .path(let path):
            let checked = try expressions.check(expression)
            if let key = checkedKeys.firstIndex(where: { $0.isSame(as: checked) }) { return .path(GroupAnswer.name(key)) }
            throw QueryError(path: path.description, "a property beside an aggregate must be among the grouping keys")
        // Neither has a place here, as the checker says.
        case .outer, .variable:
            _ = try expressions.check(expression)
            return expression
        case .aggregate(let aggregate): return .path(GroupAnswer.name(keys.count + (try position(aggregate))))
        case .function(let function, let arguments):
            var list: [QueryExpression] = []
            for argument in arguments { list.append(try rewritten(argument, aliases: aliases)) }
            return .function(function, list)
        case .conditional(let condition, let a, let b):
            return .conditional(try rewritten(condition), try rewritten(a, aliases: aliases), try rewritten(b, aliases: aliases))
        case .related(let aggregate):
            throw QueryError(
                path: aggregate.relationship.description, "what is computed of related objects must be a grouping key beside an aggregate")
        }
    }

    private mutating func rewritten(_ predicate: QueryPredicate) throws(QueryError) -> QueryPredicate {
        switch predicate.node {
        case .constant: return predicate
        case .compare(let a, let comparison, let b):
            return .compare(try rewritten(a, aliases: true), comparison, try rewritten(b, aliases: true))
        case .isIn(let expression, let values): return .isIn(try rewritten(expression, aliases: true), values)
        case .between(let a, let low, let high):
            return .between(try rewritten(a, aliases: true), try rewritten(low, aliases: true), try rewritten(high, aliases: true))
        case .text(let expression, let match, let needle): return .text(try rewritten(expression, aliases: true), match, needle)
        case .open(_, _, let variable): throw PredicateChecker.open(variable)
        case .related, .isEntity: throw QueryError("a condition on groups speaks of grouping keys and aggregates")
        case .and(let parts):
            var list: [QueryPredicate] = []
            for part in parts { list.append(try rewritten(part)) }
            return .and(list)
        case .or(let parts):
            var list: [QueryPredicate] = []
            for part in parts { list.append(try rewritten(part)) }
            return .or(list)
        case .not(let part): return .not(try rewritten(part))
        }
    }

    /// The position of an aggregate among those of the groups, where it is added if it is missing.
    private mutating func position(_ aggregate: Aggregate) throws(QueryError) -> Int {
        let argument = try aggregate.argument.map { argument throws(QueryError) in try expressions.check(argument) }
        let type = try expressions.paths.checkAggregate(aggregate.function, argument)
        let checked = CheckedAggregate(aggregate.function, argument, type)
        if let known = aggregates.firstIndex(of: checked) { return known }
        aggregates.append(checked)
        return aggregates.count - 1
    }
}

extension QueryExpression {
    /// Whether an aggregate over a group is part of it.
    var hasAggregate: Bool {
        switch node {
        case .aggregate: true
        case .path, .outer, .value, .variable, .related: false
        case .function(_, let arguments): arguments.contains(where: \.hasAggregate)
        case .conditional(let condition, let a, let b): a.hasAggregate || b.hasAggregate || condition.hasAggregate
        }
    }
}

extension QueryPredicate {
    fileprivate var hasAggregate: Bool {
        switch node {
        case .constant, .related, .isEntity: false
        case .compare(let a, _, let b): a.hasAggregate || b.hasAggregate
        case .isIn(let expression, _), .text(let expression, _, _), .open(let expression, _, _): expression.hasAggregate
        case .between(let a, let b, let c): a.hasAggregate || b.hasAggregate || c.hasAggregate
        case .and(let parts), .or(let parts): parts.contains(where: \.hasAggregate)
        case .not(let part): part.hasAggregate
        }
    }
}
