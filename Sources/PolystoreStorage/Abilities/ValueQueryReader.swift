/// A session that computes the answers of queries for values in its engine.
public protocol ValueQueryReader: StorageReader {
    /// How the engine answers a query for values; as its fetch unless said otherwise.
    ///
    /// *Behavior*: `.exact` where no row leaves the engine but those of the answer.
    func pushdown(of plan: QueryPlan) -> Pushdown

    /// The rows of a query's answer.
    ///
    /// *Requires*: `pushdown(of: plan)` is not `.unsupported`.
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]
}

extension ValueQueryReader {
    /// As its fetch.
    public func pushdown(of plan: QueryPlan) -> Pushdown { pushdown(of: plan.fetch) }
}

extension StorageReader {
    /// How the engine answers a query for values; not at all without the ability.
    public func pushdown(of plan: QueryPlan) -> Pushdown { ability((any ValueQueryReader).self)?.pushdown(of: plan) ?? .unsupported }

    /// The rows of a query's answer.
    public func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        guard let reader = ability((any ValueQueryReader).self) else {
            throw StorageError(.unsupported, "the store answers no queries for values by itself")
        }
        return try reader.values(for: plan)
    }
}
