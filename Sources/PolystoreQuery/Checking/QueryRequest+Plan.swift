package import PolystoreSchema

extension QueryRequest {
    /// Returns the request checked against a schema and normalised, as stores receive it.
    ///
    /// - Throws: `QueryError` that describes the fault. A plain property beside an aggregate must be among the grouping keys, and aliases
    ///   must differ.
    package func plan(in schema: Schema) throws(QueryError) -> QueryPlan {
        guard !outputs.isEmpty else { throw QueryError("a query requires at least one output") }
        var seen: Set<String> = []
        for output in outputs where !seen.insert(output.alias).inserted {
            throw QueryError(path: output.alias, "two outputs have the alias \"\(output.alias.excerpt())\"; give one another alias")
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
        if let limit = fetch.limit, limit < 0 { throw QueryError("the limit \(limit) is negative") }
        if fetch.offset < 0 { throw QueryError("the offset \(fetch.offset) is negative") }
        let keys = isDistinct && groupBy.isEmpty ? outputs.map(\.expression).filter { !$0.hasAggregate } : groupBy
        var request = self
        request.outputs = outputs
        var checker = GroupChecker(request, keys, PredicateChecker(schema: schema, entity: plan.entity).expressions)
        return QueryPlan(fetch: plan, kind: .groups(try checker.grouping()))
    }
}

extension QueryRequest {
    /// Returns whether the answer is one row: aggregates over all objects.
    package func hasOneRow(in schema: Schema) -> Bool {
        groupBy.isEmpty && !isDistinct && outputsOfObjects(in: schema).contains { $0.expression.hasAggregate }
    }

    /// Returns the outputs. An aggregate over a to-many relationship is evaluated for each object.
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

extension QueryExpression {
    /// Whether the expression contains an aggregate over a group.
    var hasAggregate: Bool {
        contains { node, depth in
            if depth == 0, case .expression(let expression) = node, case .aggregate = expression.node { true } else { false }
        }
    }
}
