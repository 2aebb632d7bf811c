/// A session whose engine computes the results of value queries.
public protocol ValueQueryReader: StorageReader {
    /// Returns the way in which the engine evaluates a value query. By default it is the way in which it evaluates the query's fetch.
    ///
    /// *Behavior*: `.exact` if only the rows of the result leave the engine.
    func pushdown(of plan: QueryPlan) -> Pushdown

    /// Returns the result rows of a value query.
    ///
    /// *Requires*: the store evaluates the fetch of the plan exactly.
    ///
    /// *Behavior*: returns nil if the engine's result would differ from the contract. The layer above then computes the result from the
    /// rows.
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]?
}

extension ValueQueryReader {
    /// Returns the way in which the engine evaluates the query's fetch.
    public func pushdown(of plan: QueryPlan) -> Pushdown { pushdown(of: plan.fetch) }
}

extension ReadSession {
    /// Returns the way in which the store itself evaluates a value query: `.unsupported` without the ability.
    public final func pushdown(of plan: QueryPlan) -> Pushdown {
        valueQueries.find(in: reader)?.pushdown(of: plan.bound(to: store.storeID, in: schema)) ?? .unsupported
    }

    /// Returns the result rows of a value query. If the store does not evaluate it, the session computes the result from the rows of its
    /// fetch.
    public final func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        try checkActive()
        let plan = plan.bound(to: store.storeID, in: schema)
        if reader.pushdown(of: plan.fetch) == .exact, let answer = try valueQueries.find(in: reader)?.values(for: plan) { return answer }
        return try ResidualReader(reader, schema: schema, isSnapshot: isSnapshot, report: store.residualReport).values(for: plan)
    }
}
