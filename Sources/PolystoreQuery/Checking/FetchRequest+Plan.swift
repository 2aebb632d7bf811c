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
        plan.sort = try checkedSort(PathChecker(schema: schema), index)
        plan.limit = limit
        plan.offset = offset
        return plan
    }

    private func checkedSort(_ paths: PathChecker, _ index: EntityIndex) throws(QueryError) -> [CheckedSort] {
        var result: [CheckedSort] = []
        for descriptor in sortDescriptors {
            let path = try paths.check(descriptor.path, from: index)
            if paths.attribute(path)?.coder != nil { throw QueryError(path: path.text, "a coded attribute has no order") }
            // A property that decides already never decides again.
            if result.contains(where: { $0.path.steps == path.steps && $0.path.leaf == path.leaf }) { continue }
            result.append(CheckedSort(path, ascending: descriptor.ascending))
        }
        return result
    }
}
