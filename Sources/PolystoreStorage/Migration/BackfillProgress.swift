/// The progress of a backfill in one hierarchy.
public struct BackfillProgress: Sendable, Hashable {
    /// The name of the hierarchy's topmost entity in the newer version.
    public let entity: String
    /// The number of objects of the hierarchy that are filled.
    public let completed: Int
    /// The total number of objects of the hierarchy, as the store estimates it.
    public let total: Int

    /// Creates a progress report.
    public init(entity: String, completed: Int, total: Int) {
        self.entity = entity
        self.completed = completed
        self.total = total
    }
}
