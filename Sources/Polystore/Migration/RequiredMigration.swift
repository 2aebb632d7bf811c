public import PolystoreStorage

/// One step that a store has to take to the current version of a model, as it is known before it is taken.
public struct RequiredMigration: Sendable, CustomStringConvertible {
    /// The two versions and the kind.
    public let type: MigrationType
    /// Everything in which the versions differ.
    public let changes: [SchemaChange]
    /// What would be lost and was not accepted by the history, as far as anything is stored there: the step is refused.
    public let losses: [SchemaChange]
    /// The number of objects that are at stake: those of entities that change.
    public let objectCount: Int

    /// The two versions and the kind.
    public var description: String { type.description }
}
