/// A running migration of an open store from one version of the model to the next.
///
/// The calls occur in this order: `prepare`, loads into `destination`, `finish`, any operation in `destination`, `commit`. `end` is allowed
/// at any time.
package final class MigrationSession {
    private let migration: any StorageMigration
    private let store: OpenStore
    private let mapping: SchemaMapping
    /// A session of the old version, valid until `finish`. Changes are allowed before `prepare`. Its `commit` ends nothing.
    package let source: WriteSession
    /// A session of the new version: after `prepare` for loading the parts that the caller writes, after `finish` for every operation. Its
    /// `commit` ends nothing.
    package private(set) var destination: WriteSession

    init(_ migration: any StorageMigration, _ mapping: SchemaMapping, of store: OpenStore) {
        self.migration = migration
        self.mapping = mapping
        self.store = store
        source = WriteSession(migration.source, of: store.keeping(mapping.source))
        destination = WriteSession(migration.destination, of: store.keeping(mapping.destination))
    }

    /// Creates the empty hierarchies and link tables that the caller writes.
    package func prepare() throws(StorageError) -> MigrationWork { try migration.prepare() }

    /// Replaces the old version with the new one: performs changes in place, creates indexes, and removes obsolete parts.
    ///
    /// - Parameters:
    ///   - keys: The keys of objects in the new version.
    ///   - limits: The first key of each new hierarchy that no object has. The counter of the hierarchy rises to it.
    /// - Throws: `uniqueConstraintViolated`, which names a new constraint that objects violate, with keys of such objects.
    package func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError) {
        try checkActive()
        do throws(StorageError) { try migration.finish(keys, limits: limits) } catch {
            throw error.namingProperties(in: mapping.destination)
        }
        destination = WriteSession(migration.destination, of: store.keeping(mapping.destination))
    }

    /// Commits the migration, with one history entry for all changes of the sessions except loads. Afterwards the store is open with the
    /// new version.
    ///
    /// - Throws: The error of a change that failed and was not undone. Nothing is committed then.
    package func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkActive()
        return try migration.commit(record)
    }

    /// Ends the migration. Without a preceding commit the migration is undone. A second call does nothing.
    package func end() { migration.end() }

    private func checkActive() throws(StorageError) {
        try source.checkActive()
        try destination.checkActive()
    }
}
