/// A session that computes the answers of queries for values in its engine.
public protocol ValueQueryReader: StorageReader {
    /// How the engine answers a query for values; as its fetch unless said otherwise.
    ///
    /// *Behavior*: `.exact` where no row leaves the engine but those of the answer.
    func pushdown(of plan: QueryPlan) -> Pushdown

    /// The rows of a query's answer.
    ///
    /// *Requires*: the store answers the plan's fetch exactly.
    ///
    /// *Behavior*: nil where the engine would compute something otherwise than the contract says; the layer above then computes it from the
    /// rows.
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]?
}

extension ValueQueryReader {
    /// As its fetch.
    public func pushdown(of plan: QueryPlan) -> Pushdown { pushdown(of: plan.fetch) }
}

extension ReadSession {
    /// How the store itself answers a query for values; not at all without the ability.
    public final func pushdown(of plan: QueryPlan) -> Pushdown {
        valueQueries.find(in: reader)?.pushdown(of: plan.bound(to: store.storeID, in: schema)) ?? .unsupported
    }

    /// The rows of a query's answer; computed from the rows of its fetch where the store does not answer it.
    public final func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        try checkActive()
        let plan = plan.bound(to: store.storeID, in: schema)
        if reader.pushdown(of: plan.fetch) == .exact, let answer = try valueQueries.find(in: reader)?.values(for: plan) { return answer }
        return try ResidualReader(reader, schema: schema, report: store.residualReport).values(for: plan)
    }
}
