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

extension StorageReader {
    /// How the engine answers a plan; nothing without the ability.
    public func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try ability((any PlanExplainer).self)?.explanation(of: plan) ?? []
    }

    /// How the engine answers a plan, with measurements; nothing without the ability.
    public func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try ability((any PlanExplainer).self)?.measuredExplanation(of: plan) ?? []
    }
}
