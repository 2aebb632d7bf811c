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
