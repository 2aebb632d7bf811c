/// The state of an online migration, during which programs of both versions can run.
public struct RollingMigrationState: Sendable, Hashable {
    /// The phase of an online migration.
    public enum Phase: String, Sendable, Hashable {
        /// The backfill is in progress. Programs of the older version run.
        case filling
        /// Programs of both versions run.
        case ready
    }

    /// The older version.
    public let source: Schema
    /// The newer version.
    public let destination: Schema
    /// The phase of the migration.
    public let phase: Phase

    /// Creates a state.
    public init(source: Schema, destination: Schema, phase: Phase) {
        self.source = source
        self.destination = destination
        self.phase = phase
    }
}
