public import PolystoreSchema

extension FetchRequest {
    /// The request checked against a schema and normalised: what stores receive.
    ///
    /// - Throws: `QueryError` naming the key path and the nearest valid ones.
    public func plan(in schema: Schema) throws(QueryError) -> FetchPlan {
        guard let index = schema.index(of: entity) else {
            throw QueryError(
                path: entity, "the model has no entity of this name\(Suggestion.nearest(entity, in: schema.entities.map(\.name)))")
        }
        if let limit, limit < 0 { throw QueryError("a limit cannot be negative") }
        if offset < 0 { throw QueryError("an offset cannot be negative") }
        let family = includesSubentities ? schema[index].family : [index]
        var plan = FetchPlan(entity: index, entities: family)
        if let predicate { plan.predicate = try PredicateChecker(schema: schema, entity: index).check(predicate) }
        plan.sort = try checkedSort(PredicateChecker(schema: schema, entity: index).expressions)
        plan.limit = limit
        plan.offset = offset
        return plan
    }

    private func checkedSort(_ expressions: ExpressionChecker) throws(QueryError) -> [CheckedSort] {
        var result: [CheckedSort] = []
        for term in order {
            let expression = try expressions.check(term.expression)
            if case .path(let path) = expression, expressions.paths.attribute(path)?.coder != nil {
                throw QueryError(path: path.text, "a coded attribute has no order")
            }
            if case .path(let path) = expression, path.leaf != .key, expressions.paths.isReference(path) {
                throw QueryError(path: path.text, "objects have no order; order by one of their properties, or by their identity: SELF")
            }
            // A constant orders nothing, and what decides already never decides again.
            if case .value = expression { continue }
            if result.contains(where: { $0.expression.isSame(as: expression) }) { continue }
            result.append(CheckedSort(expression, ascending: term.ascending))
        }
        return result
    }
}

extension CheckedExpression {
    /// Whether two expressions are the same, however their key paths were written.
    func isSame(as other: CheckedExpression) -> Bool {
        if case .path(let a) = self, case .path(let b) = other { return a.steps == b.steps && a.leaf == b.leaf }
        return self == other
    }
}
