/// A change of all rows of a plan: new values of slots, computed from the row as it was.
public struct BatchUpdate {
    /// The rows; the plan has no order and no limit.
    public let fetch: FetchPlan
    /// The slots and their new values, of the type of the slot; they are attributes of the row itself, none of them unique.
    public let assignments: [(slot: Int, value: CheckedExpression)]

    /// A change.
    public init(fetch: FetchPlan, assignments: [(slot: Int, value: CheckedExpression)]) {
        self.fetch = fetch
        self.assignments = assignments
    }

    /// The slots.
    public var mask: SlotMask {
        var mask = SlotMask()
        for assignment in assignments { mask.insert(assignment.slot) }
        return mask
    }
}
