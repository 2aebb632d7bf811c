/// An update of all rows of a plan. It assigns new values to slots; each value is computed from the row as it was before the update.
public struct BatchUpdate {
    /// The rows to update. The plan has neither an order nor a limit.
    public let fetch: FetchPlan
    /// The assigned slots and the expressions for their new values. Each expression has the type of its slot. The slots are attributes of
    /// the row itself, and none of them is unique.
    public let assignments: [(slot: Int, value: CheckedExpression)]

    /// Creates an update of the rows of `fetch`.
    public init(fetch: FetchPlan, assignments: [(slot: Int, value: CheckedExpression)]) {
        self.fetch = fetch
        self.assignments = assignments
    }

    /// The slots that the update assigns.
    public var mask: SlotMask {
        var mask = SlotMask()
        for assignment in assignments { mask.insert(assignment.slot) }
        return mask
    }
}
