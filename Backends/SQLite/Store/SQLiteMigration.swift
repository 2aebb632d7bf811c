#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A migration step of a SQLite file, in one transaction on the writing connection.
final class SQLiteMigration: StorageMigration {
    private let step: MigrationStep
    private let plan: SQLMigration
    private let next: StoreMetadata
    private let core: SQLiteCore
    private let connection: SQLiteConnection
    private let publish: (SQLiteCore) -> Void
    private let newCore: SQLiteCore
    private var isOpen = true
    private let before: SQLiteMigrationSession
    private var after: SQLiteMigrationSession
    var source: any StorageWriter { before }
    var destination: any StorageWriter { after }

    /// Creates the step on a connection whose transaction has begun.
    init(
        _ step: MigrationStep, _ metadata: StoreMetadata, _ core: SQLiteCore, _ connection: SQLiteConnection,
        publish: @escaping (SQLiteCore) -> Void
    ) throws(StorageError) {
        self.step = step
        self.core = core
        self.connection = connection
        self.publish = publish
        next = StoreMetadata(migrating: metadata, step.mapping)
        plan = SQLMigration(step, from: metadata, to: next, .sqlite)
        newCore = SQLiteCore(next, readers: core.readers, writer: core.writer)
        before = try SQLiteMigrationSession(core, connection)
        let building = SQLiteCore(next, readers: core.readers, writer: core.writer, tables: plan.building)
        after = try SQLiteMigrationSession(building, connection, hasIndexes: false)
    }

    deinit { end() }

    func prepare() throws(StorageError) -> MigrationWork {
        for statement in plan.preparing() { try connection.execute(statement) }
        return plan.work
    }

    func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError) {
        after = try SQLiteMigrationSession(newCore, connection)
        for statement in plan.finishing() { try connection.execute(statement) }
        try connection.shrinkCache()
        defer { try? connection.restoreCache() }
        for index in plan.indexing() { try make(index) }
        for statement in plan.linkIndexing() { try connection.execute(statement) }
        let until = try connection.integer("SELECT max(position) FROM polystore_history") ?? 0
        let past = PastVersion(step.mapping, until: until, offset: keys.offset)
        after.recorder.add(before.recorder, by: past)
        try after.setNote(PastVersion.noteName(next.migrations - 1), past.bytes)
        for (root, limit) in limits { try raiseKeys(root, to: limit) }
        try connection.setMetadata(next.entries)
    }

    private func make(_ index: SQLTables.IndexStatement) throws(StorageError) {
        let code = sqlite3_exec(connection.handle, index.creation, nil, nil, nil)
        if code == SQLITE_OK { return }
        var error = SQLiteConstraint.error(code, connection, plan.new, index.root)
        if error.code == .uniqueConstraintViolated {
            let statement = try connection.statement(plan.new.duplicates(index))
            defer { statement.reset() }
            while try statement.step() {
                error.details.keys += [sqlite3_column_int64(statement.handle, 0), sqlite3_column_int64(statement.handle, 1)]
            }
        }
        throw error
    }

    private func raiseKeys(_ root: EntityIndex, to limit: Int64) throws(StorageError) {
        let statement = try connection.statement(
            "INSERT INTO polystore_counters(root, next) VALUES(?1, ?2) ON CONFLICT(root) DO UPDATE SET next = max(next, excluded.next)")
        let names = RowBatch(capacity: 1)
        statement.bind(names.cell(for: .string(plan.new.schema.entities[root].name)), at: 1)
        statement.bind(.int(limit), at: 2)
        let code = statement.run()
        if code != SQLITE_DONE { throw connection.error(code) }
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard isOpen else { throw StorageError(.storeClosed, "the migration has ended") }
        let token = try after.writeHistory(record)
        try core.writer.commits.reshape { () throws(StorageError) in try connection.commit({ nil }) { connection.error($0) } }
        core.retire()
        publish(newCore)
        leave()
        return token
    }

    func end() {
        guard isOpen else { return }
        leave()
    }

    private func leave() {
        isOpen = false
        before.end()
        after.end()
        connection.end()
        try? connection.execute("PRAGMA wal_autocheckpoint = 1000")
        core.writer.leave()
    }
}

/// A session that belongs to a migration and does not own its transaction.
private final class SQLiteMigrationSession: SQLiteWriter {
    private let rows: SQLiteBulkLoad?

    /// - Parameter hasIndexes: Whether the tables have their indexes; otherwise the migration creates them after inserting the rows.
    init(_ core: SQLiteCore, _ connection: SQLiteConnection, hasIndexes: Bool = true) throws(StorageError) {
        rows = hasIndexes ? nil : try SQLiteBulkLoad(core, connection, hasIndexes: false)
        try super.init(core, connection, WriteOptions())
    }

    // The base class's deinitializer would run after the object has become an instance of the base class, and release the connection.
    deinit { end() }

    override func giveBack() {}

    override func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        if let rows { try rows.load(root, batch) } else { try super.load(root, batch) }
    }

    override func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        try bulk?.finish()
        return nil
    }
}
#endif
