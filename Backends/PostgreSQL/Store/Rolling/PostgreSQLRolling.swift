#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// An online migration step, performed while programs of both versions run. Each phase uses separate transactions, none of which waits long
/// for a lock.
struct PostgreSQLRolling {
    let store: PostgreSQLStore
    let connection: PostgreSQLConnection
    let core: PostgreSQLCore
    let setup: PostgreSQLSetup

    /// The current step.
    private struct Step {
        let metadata: StoreMetadata
        let next: StoreMetadata
        let record: RollingRecord
        let plan: RollingPlan
        let mapping: SchemaMapping
    }

    private func current() throws(StorageError) -> Step {
        let entries = try setup.entries(), metadata = try StoreMetadata(entries: entries)
        guard let record = try RollingRecord(entries) else {
            throw StorageError(.notFound, "the store has no online migration in progress; start one with expand")
        }
        let mapping = SchemaMapping(from: metadata.schema, to: record.schema), next = StoreMetadata(migrating: metadata, mapping)
        let plan = try RollingPlan(MigrationStep(mapping), from: metadata, to: next)
        return Step(metadata: metadata, next: next, record: record, plan: plan, mapping: mapping)
    }

    /// Returns a session of the current transaction, in the version of a core.
    private func session(_ core: PostgreSQLCore) -> WriteSession {
        let lane = PostgreSQLLane(core: self.core, connection: connection, isExclusive: true), metadata = core.metadata
        let state = StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: false)
        return WriteSession(PostgreSQLMigrationSession(lane, of: core), of: OpenStore(store, state))
    }

    /// Repeats a transaction until it gets its locks or the time is over.
    private func patiently(_ options: WriteOptions, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        try connection.patiently(
            options.timeout,
            orSaying: "the connection to the server was lost during COMMIT: run the phase again, which reports whether it is done", body)
    }

    // MARK: Phases

    /// Performs the phase that creates the tables and columns of the newer version.
    func expand(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) {
        try patiently(options) { () throws(StorageError) in
            let entries = try setup.entries(), metadata = try StoreMetadata(entries: entries)
            if let record = try RollingRecord(entries) { throw record.underWay }
            try metadata.check(step)
            let next = StoreMetadata(migrating: metadata, step.mapping)
            let plan = try RollingPlan(step, from: metadata, to: next)
            try lock(plan)
            let since = try connection.query("SELECT \(PostgreSQLHistory.position(core))", []).integer(0, 0) ?? 0
            let phase: RollingMigrationState.Phase = plan.fillings.isEmpty && plan.freshIndexes.isEmpty ? .ready : .filling
            for statement in plan.expanding(setup.schema) { try connection.execute(statement) }
            if phase == .ready { for statement in plan.readying(setup.schema) { try connection.execute(statement) } }
            try setup.createSequences(plan.next)
            try setup.tellOfTables(plan.next)
            let writer = session(core)
            // The records that a peer keeps for this store are of one version, and the other version could not read them.
            if try !Peers(writer).known().isEmpty {
                throw StorageError(
                    .unsupported,
                    "a store that takes part in joint commits does not support online migrations; migrate it while no program runs")
            }
            try writer.setNote(PastVersion.noteName(metadata.migrations), past(step.mapping, until: .max).bytes)
            try connection.setMetadata(RollingRecord(step.mapping.destination, phase: phase, since: since).entries)
        }
    }

    /// Locks all tables that change, always in the same order.
    private func lock(_ plan: RollingPlan) throws(StorageError) {
        let tables = plan.shared.map { plan.next.table($0.root) }.sorted() + ["polystore_history"]
        for table in tables { try connection.execute("LOCK TABLE \(SQLText.quoted(table)) IN ACCESS EXCLUSIVE MODE") }
    }

    private func past(_ mapping: SchemaMapping, until: Int64) -> PastVersion {
        PastVersion(mapping, until: until) { _, _ in 0 }
    }

    /// Fills the columns of the newer version for existing objects.
    func backfill(
        _ pace: BackfillPace, _ report: (BackfillProgress) throws(StorageError) -> Void
    ) throws(StorageError) {
        let step = try current()
        if step.record.phase == .ready { return }
        // The lock ends with the connection.
        guard try connection.text("SELECT pg_try_advisory_lock(\(core.lock &+ 1))::int") == "1" else {
            throw StorageError(.busy, "another program runs the backfill of the online migration; wait until it is done")
        }
        defer {
            // The connection returns to the pool, and must not keep the lock.
            if (try? connection.text("SELECT pg_advisory_unlock(\(core.lock &+ 1))")) != "t" { connection.giveUp() }
        }
        for filling in step.plan.fillings { try fill(filling, step, pace, report) }
        for index in step.plan.freshIndexes { try make(index, step) }
        try patiently(WriteOptions(timeout: 60)) { () throws(StorageError) in
            try hold(step)
            for statement in step.plan.readying(setup.schema) { try connection.execute(statement) }
            try connection.setMetadata(RollingRecord(step.record.schema, phase: .ready, since: step.record.since).entries)
        }
    }

    /// Prevents other programs from ending the step during a transaction.
    ///
    /// - Throws: `notFound` if a program has already ended it.
    private func hold(_ step: Step) throws(StorageError) {
        try connection.execute("LOCK TABLE polystore_metadata IN ACCESS SHARE MODE")
        try checkUnderWay(step)
    }

    private func checkUnderWay(_ step: Step) throws(StorageError) {
        let hash = try connection.text("SELECT value FROM polystore_metadata WHERE key = '\(RollingRecord.hashKey)'")
        if hash != step.next.hash { throw StorageError(.notFound, "another program ended the online migration") }
    }

    /// The advisory lock of a program that creates an index, because no transaction that runs meanwhile could hold the step.
    private var indexLock: Int64 { core.lock &+ 2 }

    private func fill(
        _ filling: RollingPlan.Filling, _ step: Step, _ pace: BackfillPace, _ report: (BackfillProgress) throws(StorageError) -> Void
    ) throws(StorageError) {
        let root = filling.table.root, table = SQLText.quoted(step.plan.next.table(root))
        var last = step.record.filled[root] ?? .min, completed = 0
        let total = try objectCount(table), batch = Int64(pace.batchSize)
        while true {
            var count: Int64 = 0, upper = last
            try patiently(WriteOptions(timeout: 600)) { () throws(StorageError) in
                try hold(step)
                let range = try connection.query(
                    "SELECT max(\"_id\"), count(*) FROM (SELECT \"_id\" FROM \(table) WHERE \"_id\" > $1::int8 ORDER BY \"_id\" LIMIT $2::int8) t",
                    [PostgreSQLParameter(last), PostgreSQLParameter(batch)])
                count = range.integer(0, 1) ?? 0
                upper = range.integer(0, 0) ?? last
                if count == 0 { return }
                _ = try connection.query(
                    "UPDATE \(table) SET \(filling.assignments) WHERE \"_id\" > $1::int8 AND \"_id\" <= $2::int8 AND (\(filling.condition))",
                    [PostgreSQLParameter(last), PostgreSQLParameter(upper)])
                try connection.setMetadata([RollingRecord.filledKey(root): String(upper)])
            }
            if count == 0 { return }
            last = upper
            completed += Int(count)
            try report(
                BackfillProgress(
                    entity: step.mapping.destination[root].name, completed: completed, total: max(total, completed)))
            if pace.pause > 0 { Threads.pause(seconds: pace.pause) }
        }
    }

    /// Returns the approximate number of rows of a table: the server's estimate, or a count if the server has never analyzed the table.
    private func objectCount(_ table: String) throws(StorageError) -> Int {
        let estimate = try connection.query(
            "SELECT reltuples::int8 FROM pg_class WHERE oid = to_regclass($1::text)", [.init(.value(.string(table), .string))])
        if let rows = estimate.integer(0, 0), rows > 0 { return Int(rows) }
        return Int(try connection.query("SELECT count(*) FROM \(table)", []).integer(0, 0) ?? 0)
    }

    /// Creates an index while other programs write. An incomplete index of an earlier attempt is created again.
    private func make(_ index: SQLTables.IndexStatement, _ step: Step) throws(StorageError) {
        try connection.execute("SELECT pg_advisory_lock(\(indexLock))")
        defer { if (try? connection.text("SELECT pg_advisory_unlock(\(indexLock))")) != "t" { connection.giveUp() } }
        try checkUnderWay(step)
        let state = try connection.query(
            "SELECT indisvalid::int::int8 FROM pg_index WHERE indexrelid = to_regclass($1::text)",
            [.init(.value(.string(SQLText.quoted(index.name)), .string))])
        if state.integer(0, 0) == 1 { return }
        // Dropping the index concurrently makes no other session wait.
        let removal = "DROP INDEX CONCURRENTLY IF EXISTS \(SQLText.quoted(index.name))"
        if state.count > 0 { try connection.execute(removal) }
        if index.constraint != nil { try PostgreSQLMigration.refuseDuplicates(index, step.plan.next, connection) }
        do throws(StorageError) {
            try connection.execute(RollingPlan.concurrently(index.creation))
        } catch {
            try? connection.execute(removal)
            if index.constraint != nil { try PostgreSQLMigration.refuseDuplicates(index, step.plan.next, connection) }
            throw error
        }
    }

    /// Ends the step with the newer version.
    ///
    /// All work that depends on the length of the history is done before the lock that excludes all other sessions.
    /// - Parameter check: Runs under that lock, with a session of the older version.
    /// - Returns: The new metadata of the store.
    func contract(
        _ options: WriteOptions, _ check: (ReadSession) throws(StorageError) -> Void
    ) throws(StorageError) -> StoreMetadata {
        let step = try current()
        if step.record.phase != .ready { throw step.record.notReady(step.metadata.schema) }
        try patiently(options) { () throws(StorageError) in try self.check(step) }
        let history = RollingHistory(core, connection, step.record.since, step.metadata.schema, past(step.mapping, until: .max))
        let done = try history.translateMost()
        try patiently(options) { () throws(StorageError) in
            // Every session holds this lock, so from here on there is no other session.
            try connection.execute("LOCK TABLE polystore_metadata IN ACCESS EXCLUSIVE MODE")
            _ = try current()
            // Other programs have written since the first check.
            try self.check(step)
            try check(session(core))
            try history.finish(after: done)
            for statement in step.plan.contracting(setup.schema) { try connection.execute(statement) }
            try connection.forgetStatements()
            let writer = session(core.core(of: step.next))
            let past = past(step.mapping, until: step.record.since)
            try writer.setNote(PastVersion.noteName(step.metadata.migrations), past.bytes)
            try MigrationRecord(step.mapping.source).keep(in: writer)
            try connection.setMetadata(step.next.entries)
            try connection.execute(RollingRecord.removal)
            try setup.tellOfTables(SQLTables(step.next.schema, .postgreSQL, entityNumbers: step.next.entityNumbers))
        }
        return step.next
    }

    /// Checks the requirements of the newer version for objects that programs of the older one can change, and for its own references.
    private func check(_ step: Step) throws(StorageError) {
        try MigrationChecks(step.mapping, session(core)).check(inPlace: Set(step.plan.shared.map(\.root)))
        for reference in step.plan.requiredReferences {
            let found = try connection.query(reference.missing, [])
            if found.count == 0 { continue }
            let keys = (0..<found.count).compactMap { found.integer($0, 0) }
            let failures = keys.map {
                ValidationFailure(entity: reference.entity, property: reference.property, key: $0, "must have a value")
            }
            throw StorageError(
                .validationFailed,
                "the objects violate the rules of the new version: \(reference.entity).\(reference.property) must have a value",
                details: .init(entity: reference.entity, property: reference.property, keys: keys, failures: failures))
        }
    }

    /// Ends the step with the older version.
    func abandon(acceptingLosses acceptsLosses: Bool, _ options: WriteOptions) throws(StorageError) {
        let step = try current()
        try patiently(options) { () throws(StorageError) in
            // An index that another program is creating would remain.
            guard try connection.text("SELECT pg_try_advisory_xact_lock(\(indexLock))") == "t" else {
                throw StorageError(.busy, "another program creates an index of the newer version: stop its backfill first")
            }
            try connection.execute("LOCK TABLE polystore_metadata IN ACCESS EXCLUSIVE MODE")
            // Before the backfill is complete, no program of the newer version has stored anything, and unfilled data is no loss.
            if try current().record.phase == .ready, !acceptsLosses { try refuseLosses(step.plan) }
            for statement in step.plan.abandoning(setup.schema) { try connection.execute(statement) }
            try connection.forgetStatements()
            try session(core).setNote(PastVersion.noteName(step.metadata.migrations), nil)
            try connection.execute(RollingRecord.removal)
            try setup.tellOfTables(SQLTables(step.metadata.schema, .postgreSQL, entityNumbers: step.metadata.entityNumbers))
        }
    }

    private func refuseLosses(_ plan: RollingPlan) throws(StorageError) {
        var lost: [String] = []
        for (path, query) in plan.nextOnly where try connection.query(query, []).count > 0 { lost.append(path) }
        if lost.isEmpty { return }
        throw StorageError(
            .dataLossRefused,
            "programs of version \"\(plan.mapping.destination.version)\" have stored values that the older version cannot represent: "
                + "\(lost.joined(separator: ", ")); accept their loss, or contract")
    }
}
#endif
