/// A store that goes over to the next version of a model while programs of both versions use it: expand, backfill, start the new programs,
/// stop the old ones, contract. Nobody waits longer than for a lock that is given up again after a fraction of a second.
///
/// From `expand` to `contract` each version sees the data in its own shape, and a write of either is seen by the other in the same
/// transaction. A store with the capability `rollingMigrations` conforms.
public protocol RollingStorage: StorageInterface {
    /// The step that is under way in the open store; nil where there is none.
    func rollingMigration() throws(StorageError) -> RollingMigrationState?

    /// What the store would do in each phase, line by line, for people to read.
    ///
    /// - Throws: What `expand` throws of a step that cannot be taken so.
    func explanation(ofRolling step: MigrationStep) throws(StorageError) -> [String]

    /// Makes room for the next version beside the present one. Programs of the next version cannot open the store before it is filled.
    ///
    /// - Parameters:
    ///   - step: The step, from the version that the store keeps.
    ///   - options: How long to try where others hold what is needed.
    /// - Throws: `unsupported` naming the property for which the two versions cannot be kept side by side, and what to do;
    ///   `busy` where a step is under way or others hold what is needed all the time; `schemaMismatch` where the store keeps another version than the step begins with.
    func expand(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError)

    /// Fills what the next version has of the objects that are there, in transactions of a few objects each, and makes its indexes without
    /// keeping writers out. Programs of the next version can open the store then. It goes on where an earlier one was stopped.
    ///
    /// - Parameters:
    ///   - pace: How many objects at a time, and how long to rest in between.
    ///   - report: Called after each batch; what it throws stops the filling.
    /// - Throws: `notFound` where no step is under way; `busy` where another program fills; `uniqueConstraintViolated` naming a new
    ///   constraint that objects violate, with keys of some.
    func backfill(_ pace: BackfillPace, _ report: (BackfillProgress) throws(StorageError) -> Void) throws(StorageError)

    /// Ends the step with the next version: what only the older one had is removed, and its programs are refused from then on.
    ///
    /// - Parameters:
    ///   - options: How long to try where others hold what is needed.
    ///   - check: Asked of the older version once nobody can write to it any more, and before anything is removed; what it throws leaves the
    ///     step as it is.
    /// - Throws: `notFound` where no step is under way; `busy` where it is not filled yet, or others held what is needed all the time;
    ///   `validationFailed` for objects that do not keep a rule of the next version.
    func contract(_ options: WriteOptions, check: (ReadSession) throws(StorageError) -> Void) throws(StorageError)

    /// Ends the step with the older version: what only the next one has is removed, and its programs are refused from then on.
    ///
    /// - Parameters:
    ///   - acceptsLosses: Whether what programs of the next version stored may go that the older one has no place for.
    ///   - options: How long to try where others hold what is needed.
    /// - Throws: `notFound` where no step is under way; `dataLossRefused` naming what would be lost.
    func abandon(acceptingLosses acceptsLosses: Bool, _ options: WriteOptions) throws(StorageError)
}

/// A step that is taken while programs of both versions run.
public struct RollingMigrationState: Sendable, Hashable {
    /// How far such a step is.
    public enum Phase: String, Sendable, Hashable {
        /// Objects are being filled: programs of the older version run.
        case filling
        /// Programs of both versions run.
        case ready
    }

    /// The older version.
    public let source: Schema
    /// The newer version.
    public let destination: Schema
    /// How far it is.
    public let phase: Phase

    /// A state.
    public init(source: Schema, destination: Schema, phase: Phase) {
        self.source = source
        self.destination = destination
        self.phase = phase
    }
}

/// How fast objects are filled, so that other programs hardly notice.
public struct BackfillPace: Sendable, Hashable {
    /// The most objects of one transaction, at least 1.
    public let batchSize: Int
    /// Seconds to wait between two transactions, from 0 to an hour.
    public let pause: Double

    /// A pace; what is out of bounds becomes the nearest that is within.
    public init(batchSize: Int = 1000, pause: Double = 0) {
        self.batchSize = max(batchSize, 1)
        self.pause = pause.isNaN ? 0 : min(max(pause, 0), 3600)
    }
}

/// How many objects have been filled.
public struct BackfillProgress: Sendable, Hashable {
    /// The name of the hierarchy's topmost entity in the newer version.
    public let entity: String
    /// Its objects that are done.
    public let completed: Int
    /// Its objects, as the store estimates them.
    public let total: Int

    /// A progress.
    public init(entity: String, completed: Int, total: Int) {
        self.entity = entity
        self.completed = completed
        self.total = total
    }
}
