public import PolystoreSchema

extension ObjectRequest {
    /// Returns the request checked against a schema and normalised, as stores receive it.
    ///
    /// - Throws: `QueryError` with the key path and the most similar valid ones.
    public func plan(in schema: Schema) throws(QueryError) -> FetchPlan {
        guard let index = schema.index(of: entity) else {
            throw QueryError(
                path: entity, "the model has no entity of this name\(Suggestion.nearest(entity, in: schema.entities.map(\.name)))")
        }
        if let limit, limit < 0 { throw QueryError("the limit \(limit) is negative") }
        if offset < 0 { throw QueryError("the offset \(offset) is negative") }
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
                throw QueryError(path: path.text, "a coded attribute is not ordered and cannot be a sort key")
            }
            if case .path(let path) = expression, path.leaf != .key, expressions.paths.isReference(path) {
                throw QueryError(path: path.text, "objects are not ordered; sort by one of their properties, or by their identity: SELF")
            }
            // A constant has no effect on the order, and neither has a repeated sort key.
            if case .value = expression { continue }
            if result.contains(where: { $0.expression.isSame(as: expression) }) { continue }
            result.append(CheckedSort(expression, ascending: term.ascending))
        }
        return result
    }
}

extension CheckedExpression {
    /// Returns whether two expressions are equal, regardless of how their key paths are written.
    func isSame(as other: CheckedExpression) -> Bool {
        if case .path(let a) = self, case .path(let b) = other { return a.steps == b.steps && a.leaf == b.leaf }
        return self == other
    }
}
