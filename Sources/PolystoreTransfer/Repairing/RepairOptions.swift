/// The data that a repair may remove.
public struct RepairOptions: Sendable, Hashable {
    /// Whether objects are deleted that have nil in a required attribute, or whose required relationship leads nowhere.
    ///
    /// References to a deleted object become nil if they are optional. Otherwise the objects with these references are deleted, too.
    public var deletesBroken: Bool
    /// Whether rows, values and history entries that cannot be decoded are removed, after they were saved in their stored form.
    public var removesUnreadable: Bool

    /// Creates options, by default of a repair that removes no data.
    public init(deletesBroken: Bool = false, removesUnreadable: Bool = false) {
        self.deletesBroken = deletesBroken
        self.removesUnreadable = removesUnreadable
    }

    /// Returns whether the repair makes a change.
    func allows(_ step: RepairStep) -> Bool {
        switch step.repair.consent {
        case nil: true
        case .deletingBroken: deletesBroken
        case .removingUnreadable: removesUnreadable
        }
    }
}
