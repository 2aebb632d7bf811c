public import PolystoreSchema

extension QueryRequest {
    /// The request checked against a schema and normalised: what stores receive.
    ///
    /// - Throws: `QueryError` naming what is wrong; a plain property beside an aggregate must be among the grouping keys.
    public func plan(in schema: Schema) throws(QueryError) -> QueryPlan {
        var fetch = try fetch.plan(in: schema)
        let paths = PathChecker(schema: schema)
        var groups: [CheckedPath] = []
        for path in groupBy { groups.append(try paths.check(path, from: fetch.entity)) }
        let isAggregate = !groups.isEmpty || outputs.contains { if case .aggregate = $0 { true } else { false } }
        var checked: [QueryPlan.Output] = []
        for output in outputs {
            switch output {
            case .aggregate(let aggregate): checked.append(try self.checked(aggregate, paths, fetch.entity))
            case .property(let path):
                let found = try paths.check(path, from: fetch.entity)
                if !isAggregate {
                    checked.append(.property(found))
                } else if let group = groups.firstIndex(where: { $0.steps == found.steps && $0.leaf == found.leaf }) {
                    checked.append(.group(group))
                } else {
                    throw QueryError(path: path.description, "a property beside an aggregate must be among the grouping keys")
                }
            }
        }
        guard !checked.isEmpty else { throw QueryError("a query needs at least one output") }
        guard isAggregate else { return QueryPlan(fetch: fetch, outputs: checked) }
        let sort = try groupSort(fetch.sort, groups, checked)
        let (limit, offset) = (fetch.limit, fetch.offset)
        fetch.sort = []
        fetch.limit = nil
        fetch.offset = 0
        return QueryPlan(fetch: fetch, groupBy: groups, outputs: checked, sort: sort, limit: limit, offset: offset)
    }

    private func checked(_ aggregate: Aggregate, _ paths: PathChecker, _ entity: EntityIndex) throws(QueryError) -> QueryPlan.Output {
        let path = try aggregate.path.map { path throws(QueryError) in try paths.check(path, from: entity) }
        _ = try paths.checkAggregate(aggregate.function, path)
        return .aggregate(aggregate.function, path)
    }

    /// The order of groups: by grouping keys that are also outputs.
    private func groupSort(
        _ sort: [CheckedSort], _ groups: [CheckedPath], _ outputs: [QueryPlan.Output]
    ) throws(QueryError) -> [QueryPlan.Sort] {
        var result: [QueryPlan.Sort] = []
        for key in sort {
            let group = groups.firstIndex { $0.steps == key.path.steps && $0.leaf == key.path.leaf }
            guard let group, let output = outputs.firstIndex(of: .group(group)) else {
                throw QueryError(path: key.path.text, "groups can be ordered only by grouping keys that are also outputs")
            }
            result.append(QueryPlan.Sort(output: output, ascending: key.ascending))
        }
        return result
    }
}
