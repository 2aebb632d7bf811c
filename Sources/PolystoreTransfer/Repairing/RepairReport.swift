/// The result of a repair.
public struct RepairReport: Sendable, Hashable {
    /// The number of changes that were made.
    public internal(set) var changes = 0
    /// The number of violations that a check found afterwards.
    public internal(set) var remaining = 0
}
