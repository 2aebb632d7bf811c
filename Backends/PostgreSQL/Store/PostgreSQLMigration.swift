#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A migration step of a store on a server, in one transaction that holds the lock of the writers exclusively.
final class PostgreSQLMigration: StorageMigration {
    private let step: MigrationStep
    private let plan: SQLMigration
    private let next: StoreMetadata
    private let core: PostgreSQLCore
    private let newCore: PostgreSQLCore
    private let lane: PostgreSQLLane
    private let connection: PostgreSQLConnection
    private let setup: PostgreSQLSetup
    private let publish: (PostgreSQLCore) -> Void
    private var isOpen = true
    private let before: PostgreSQLMigrationSession
    private var after: PostgreSQLMigrationSession
    var source: any StorageWriter { before }
    var destination: any StorageWriter { after }

    /// Creates the step on a connection whose transaction has begun.
    init(
        _ step: MigrationStep, _ metadata: StoreMetadata, _ lane: PostgreSQLLane, _ schema: String,
        publish: @escaping (PostgreSQLCore) -> Void
    ) {
        self.step = step
        self.lane = lane
        core = lane.core
        connection = lane.connection
        self.publish = publish
        setup = PostgreSQLSetup(connection, schema)
        next = StoreMetadata(migrating: metadata, step.mapping)
        plan = SQLMigration(step, from: metadata, to: next, .postgreSQL)
        newCore = core.core(of: next)
        before = PostgreSQLMigrationSession(lane, of: core)
        after = PostgreSQLMigrationSession(lane, of: core.core(of: next, tables: plan.building), hasIndexes: false)
    }

    deinit { end() }

    func prepare() throws(StorageError) -> MigrationWork {
        for statement in plan.preparing() { try connection.execute(statement) }
        return plan.work
    }

    func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError) {
        try connection.execute("LOCK TABLE polystore_metadata IN ACCESS EXCLUSIVE MODE")
        after = PostgreSQLMigrationSession(lane, of: newCore)
        connection.tables = plan.new
        for statement in plan.finishing() { try connection.execute(statement) }
        try connection.forgetStatements()
        try setup.createSequences(plan.new)
        for index in plan.indexing() { try make(index) }
        for statement in plan.linkIndexing() { try connection.execute(statement) }
        let newest = try connection.query("SELECT COALESCE(max(position), 0) FROM polystore_history", [])
        let past = PastVersion(step.mapping, until: newest.integer(0, 0) ?? 0, offset: keys.offset)
        after.recorder.add(before.recorder, by: past)
        try after.setNote(PastVersion.noteName(next.migrations - 1), past.bytes)
        for (root, limit) in limits { try after.raiseKeys(root, above: limit - 1) }
        try connection.setMetadata(next.entries)
        try setup.tellOfTables(SQLTables(next.schema, .postgreSQL, entityNumbers: next.entityNumbers))
    }

    private func make(_ index: SQLTables.IndexStatement) throws(StorageError) {
        if index.constraint != nil { try Self.refuseDuplicates(index, plan.new, connection) }
        try connection.execute(index.creation)
    }

    /// Throws if rows violate a constraint, before its index is created: the server's own error would end the transaction, and names no
    /// keys.
    static func refuseDuplicates(
        _ index: SQLTables.IndexStatement, _ tables: SQLTables, _ connection: PostgreSQLConnection
    ) throws(StorageError) {
        let duplicates = try connection.query(tables.duplicates(index), [])
        if duplicates.count == 0 { return }
        let entity = tables.schema.entities[index.constraint?.declaredIn ?? index.root].name
        let label = index.constraint?.name ?? entity
        let keys: [Int64] = (0..<duplicates.count).flatMap { row in [0, 1].compactMap { duplicates.integer(row, $0) } }
        throw StorageError(
            .uniqueConstraintViolated, "two objects of \(entity) have the same \(label)",
            details: .init(entity: entity, constraint: label, keys: keys))
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard isOpen else { throw StorageError(.storeClosed, "the migration has ended") }
        let token = try after.writeHistory(record)
        try connection.beginCommit()
        do throws(StorageError) {
            try connection.commit(
                orSaying:
                    "the connection to the server was lost during COMMIT: the store has the old or the new model version; open it again"
            )
        } catch {
            if error.code == .commitOutcomeUnknown { leave() }
            throw error
        }
        core.close()
        publish(newCore)
        leave()
        return token
    }

    func end() {
        guard isOpen else { return }
        connection.tables = core.tables
        leave()
    }

    private func leave() {
        isOpen = false
        before.end()
        after.end()
        lane.leave()
    }
}
#endif
