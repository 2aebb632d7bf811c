/// A store that supports online migrations: it migrates to the next version of a model while programs of both versions use it. The steps
/// are: expand, backfill, start the new programs, stop the old ones, contract. Programs wait at most for a lock that is released again
/// after a fraction of a second.
///
/// From `expand` to `contract` each version sees the data in its own form, and each version sees a write of the other in the same
/// transaction. A store with the capability `rollingMigrations` conforms to this protocol.
public protocol RollingStorage: StorageInterface {
    /// Returns the online migration in progress in the open store, or nil if there is none.
    func rollingMigration() throws(StorageError) -> RollingMigrationState?

    /// Returns a readable description, line by line, of the work that the store would do in each phase.
    ///
    /// - Throws: The errors of `expand` for a step that cannot be performed online.
    func explanation(ofRolling step: MigrationStep) throws(StorageError) -> [String]

    /// Creates the structures of the next version next to those of the present one. Programs of the next version cannot open the store
    /// before the backfill has ended.
    ///
    /// - Parameters:
    ///   - step: The step, which starts at the stored version.
    ///   - options: The time to keep trying while other sessions hold the required locks.
    /// - Throws: `unsupported`, which names the property for which the two versions cannot be kept in sync, and a remedy; `busy` if an
    ///   online migration is in progress, or if other sessions hold the required locks all the time; `schemaMismatch` if the stored version
    ///   is not the one at which the step starts.
    func expand(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError)

    /// Fills the structures of the next version from existing objects, in transactions of a few objects each, and creates its indexes
    /// without blocking writers. Afterwards programs of the next version can open the store. A backfill continues where an earlier one
    /// stopped.
    ///
    /// - Parameters:
    ///   - pace: The number of objects in each transaction, and the pause between transactions.
    ///   - report: Called after each batch. An error that it throws stops the backfill.
    /// - Throws: `notFound` if no online migration is in progress; `busy` if another program performs the backfill;
    ///   `uniqueConstraintViolated`, which names a new constraint that objects violate, with keys of some of them.
    func backfill(_ pace: BackfillPace, _ report: (BackfillProgress) throws(StorageError) -> Void) throws(StorageError)

    /// Completes the migration with the next version: removes the structures that only the older version uses. From then on the store
    /// refuses programs of the older version.
    ///
    /// - Parameters:
    ///   - options: The time to keep trying while other sessions hold the required locks.
    ///   - check: Called with a session of the older version when no program can write to it any more, and before anything is removed. If
    ///     it throws, the online migration remains in progress.
    /// - Throws: `notFound` if no online migration is in progress; `busy` if the backfill has not ended, or if other sessions held the
    ///   required locks all the time; `validationFailed` for objects that violate a rule of the next version.
    func contract(_ options: WriteOptions, check: (ReadSession) throws(StorageError) -> Void) throws(StorageError)

    /// Abandons the migration: removes the structures that only the next version uses. From then on the store refuses programs of the
    /// next version.
    ///
    /// - Parameters:
    ///   - acceptsLosses: Whether data may be discarded that programs of the next version stored and that the older version cannot
    ///     represent.
    ///   - options: The time to keep trying while other sessions hold the required locks.
    /// - Throws: `notFound` if no online migration is in progress; `dataLossRefused`, which names the data that would be lost.
    func abandon(acceptingLosses acceptsLosses: Bool, _ options: WriteOptions) throws(StorageError)
}

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

/// The speed of a backfill, chosen so that other programs are hardly affected.
public struct BackfillPace: Sendable, Hashable {
    /// The maximum number of objects in one transaction, at least 1.
    public let batchSize: Int
    /// The number of seconds to wait between two transactions, from 0 to 3,600.
    public let pause: Double

    /// Creates a pace. A value that is out of bounds is replaced by the nearest permitted one.
    public init(batchSize: Int = 1000, pause: Double = 0) {
        self.batchSize = max(batchSize, 1)
        self.pause = pause.isNaN ? 0 : min(max(pause, 0), 3600)
    }
}

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
