/// A session that can explain how its engine executes a plan.
public protocol PlanExplainer: StorageReader {
    /// Returns a readable description, line by line, of the way in which the engine executes a plan.
    ///
    /// *Requires*: `pushdown(of: plan)` is `.exact`.
    func explanation(of plan: FetchPlan) throws(StorageError) -> [String]

    /// Returns the explanation together with measurements that the engine takes while it executes the plan. By default there are no
    /// measurements.
    func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String]
}

extension PlanExplainer {
    /// Returns the explanation without measurements.
    public func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] { try explanation(of: plan) }
}

extension ReadSession {
    /// Returns a readable description, line by line, of the way in which the engine executes its part of a plan. Without the ability,
    /// returns an empty array.
    public final func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try checkActive()
        return try explainers.find(in: reader)?.explanation(of: answered(plan)) ?? []
    }

    /// Returns the explanation together with measurements that the engine takes while it executes its part of the plan.
    public final func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try checkActive()
        return try explainers.find(in: reader)?.measuredExplanation(of: answered(plan)) ?? []
    }

    /// Returns the part of a plan that the store evaluates exactly.
    private final func answered(_ plan: FetchPlan) -> FetchPlan {
        let plan = bound(plan)
        return reader.pushdown(of: plan) == .exact ? plan : ResidualReader(reader, schema: schema).stored(plan)
    }
}
