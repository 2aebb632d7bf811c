/// A migration step in progress: one transaction of the store with exclusive access among all writers, which ends in either the old version
/// or the new one.
///
/// The calls occur in this order: `prepare`, loads into `destination`, `finish`, any operation in `destination`, `commit`. `end` is allowed
/// at any time. If the process is killed at any moment, the store has the old version, or after the commit the new one. A migration is
/// confined to the thread that began it.
public protocol StorageMigration: AnyObject {
    /// A session of the old version, valid until `finish`. Changes are allowed before `prepare`. Its `commit` ends nothing.
    var source: any StorageWriter { get }

    /// A session of the new version: after `prepare` for loading the parts that the caller writes, after `finish` for every operation. Its
    /// `commit` ends nothing.
    var destination: any StorageWriter { get }

    /// Creates the empty hierarchies and link tables that the caller writes.
    func prepare() throws(StorageError) -> MigrationWork

    /// Replaces the old version with the new one: performs changes in place, creates indexes, and removes obsolete parts.
    ///
    /// - Parameters:
    ///   - keys: The keys of objects in the new version.
    ///   - limits: The first key of each new hierarchy that no object has. The counter of the hierarchy rises to it.
    /// - Throws: `uniqueConstraintViolated`, which names a new constraint that objects violate, with keys of such objects.
    func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError)

    /// Commits the step, with one history entry for all changes of the sessions except loads. Afterwards the store is open with the new
    /// version. Sessions of the old version fail with `schemaMismatch` or `storeClosed`.
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken?

    /// Ends the step. Without a preceding commit the step is undone. A second call does nothing.
    func end()
}
