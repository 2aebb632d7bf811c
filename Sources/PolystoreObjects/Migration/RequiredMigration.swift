public import PolystoreStorage

/// One step that a store requires to reach the current version of a model, with the facts that are known before it is run.
public struct RequiredMigration: Sendable, CustomStringConvertible {
    /// The two versions and the kind.
    public let type: MigrationType
    /// All differences between the versions.
    public let changes: [SchemaChange]
    /// The losses of stored data that the history does not accept, because of which the migration is refused before its first step. A store
    /// with the option `recreateStoreOnModelMismatch` accepts them.
    ///
    /// Data that an earlier step writes with code of the program is not known yet. If this step loses it, it is refused when it begins.
    public let losses: [SchemaChange]
    /// The number of affected objects: those of entities that change.
    public let objectCount: Int

    /// The two versions and the kind.
    public var description: String { type.description }
}
