/// A session that explains how its engine answers a plan.
public protocol PlanExplainer: StorageReader {
    /// How the engine answers a plan, line by line, for people to read.
    ///
    /// *Requires*: `pushdown(of: plan)` is `.exact`.
    func explanation(of plan: FetchPlan) throws(StorageError) -> [String]

    /// As `explanation`, with what the engine measures while it runs the plan; without measurements unless said otherwise.
    func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String]
}

extension PlanExplainer {
    /// As `explanation`.
    public func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] { try explanation(of: plan) }
}

extension ReadSession {
    /// How the engine answers what it answers of a plan, line by line, for people to read; nothing without the ability.
    public final func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try checkActive()
        return try explainers.find(in: reader)?.explanation(of: answered(plan)) ?? []
    }

    /// As `explanation`, with what the engine measures while it runs the plan.
    public final func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try checkActive()
        return try explainers.find(in: reader)?.measuredExplanation(of: answered(plan)) ?? []
    }

    /// The part of a plan that the store answers exactly.
    private final func answered(_ plan: FetchPlan) -> FetchPlan {
        let plan = bound(plan)
        return reader.pushdown(of: plan) == .exact ? plan : ResidualReader(reader, schema: schema).stored(plan)
    }
}
