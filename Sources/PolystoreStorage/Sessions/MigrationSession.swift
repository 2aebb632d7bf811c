/// A migration of an open store from one version of the model to the next, while it runs.
///
/// The calls come in this order: `prepare`, loads into `destination`, `finish`, anything in `destination`, `commit`; `end` at any time.
public final class MigrationSession {
    private let migration: any StorageMigration
    private let store: OpenStore
    private let mapping: SchemaMapping
    /// Everything by the old version, until `finish`. Changes are allowed before `prepare`; its `commit` ends nothing.
    public let source: WriteSession
    /// Everything by the new version: after `prepare` for the loads of what the caller writes, after `finish` for everything. Its `commit`
    /// ends nothing.
    public private(set) var destination: WriteSession

    init(_ migration: any StorageMigration, _ mapping: SchemaMapping, of store: OpenStore) {
        self.migration = migration
        self.mapping = mapping
        self.store = store
        source = WriteSession(migration.source, of: store.keeping(mapping.source))
        destination = WriteSession(migration.destination, of: store.keeping(mapping.destination))
    }

    /// Makes room for what the caller writes.
    public func prepare() throws(StorageError) -> MigrationWork { try migration.prepare() }

    /// Puts the new version in the place of the old one: changes in place, makes indexes, removes what is left over.
    ///
    /// - Parameters:
    ///   - keys: The keys that objects have in the new version.
    ///   - limits: The first key of each new hierarchy that no object has: its counter rises to it.
    /// - Throws: `uniqueConstraintViolated` naming a new constraint that objects violate, with keys of such objects.
    public func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError) {
        try checkActive()
        try migration.finish(keys, limits: limits)
        destination = WriteSession(migration.destination, of: store.keeping(mapping.destination))
    }

    /// Commits, with one entry of the history for everything that was changed by the sessions, loads left out; the store is open with the
    /// new version then.
    ///
    /// - Throws: The error of a change that failed and was not undone; nothing is committed then.
    public func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkActive()
        return try migration.commit(record)
    }

    /// Ends the migration; without a commit it is undone. A second call does nothing.
    public func end() { migration.end() }

    private func checkActive() throws(StorageError) {
        try source.checkActive()
        try destination.checkActive()
    }
}
