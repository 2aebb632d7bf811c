#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// Takes a step while programs of both versions run: every phase in transactions of its own, none of which waits long for a lock.
struct PostgreSQLRolling {
    /// So long a phase waits for a lock before it lets those pass who queue behind it.
    private static let patience = "250ms"
    /// So many entries of the history are translated at once.
    private static let entriesAtOnce = 1000

    let store: PostgreSQLStore
    let connection: PostgreSQLConnection
    let core: PostgreSQLCore
    let setup: PostgreSQLSetup

    /// The step that is under way.
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
            throw StorageError(.notFound, "no step is under way in the store; begin one with expand")
        }
        let mapping = SchemaMapping(from: metadata.schema, to: record.schema), next = StoreMetadata(migrating: metadata, mapping)
        let plan = try RollingPlan(MigrationStep(mapping), from: metadata, to: next)
        return Step(metadata: metadata, next: next, record: record, plan: plan, mapping: mapping)
    }

    /// A session of the transaction that runs, in the version of a core.
    private func session(_ core: PostgreSQLCore) -> WriteSession {
        let lane = PostgreSQLLane(core: self.core, connection: connection, isExclusive: true), metadata = core.metadata
        let state = StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: false)
        return WriteSession(PostgreSQLMigrationSession(lane, of: core), of: OpenStore(store, state))
    }

    /// Runs a transaction again and again until it gets its locks, or the time is over.
    private func patiently(_ options: WriteOptions, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        let deadline = Date(timeIntervalSinceNow: options.timeout)
        while true {
            do throws(StorageError) {
                try connection.execute("BEGIN; SET LOCAL lock_timeout = '\(Self.patience)'")
                try body()
                return try connection.commit(
                    orSaying: "the connection was lost during COMMIT: run the phase again, it says whether it is done")
            } catch {
                if connection.isLost || error.code == .commitOutcomeUnknown { throw error }
                try? connection.execute("ROLLBACK")
                guard error.code == .busy || error.code == .serializationFailure, Date() < deadline else { throw error }
                // Those who queued behind the lock go first.
                Thread.sleep(forTimeInterval: Double.random(in: 0.1...0.5))
            }
        }
    }

    // MARK: Phases

    /// Makes room for the newer version.
    func expand(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) {
        try patiently(options) { () throws(StorageError) in
            let entries = try setup.entries(), metadata = try StoreMetadata(entries: entries)
            if let record = try RollingRecord(entries) { throw record.underWay }
            try metadata.check(step)
            let next = StoreMetadata(migrating: metadata, step.mapping)
            let plan = try RollingPlan(step, from: metadata, to: next)
            try lock(plan)
            let since = try connection.query("SELECT \(PostgreSQLHistory.position(core))", []).integer(0, 0) ?? 0
            for statement in plan.expanding(setup.schema) { try connection.execute(statement) }
            try setup.createSequences(plan.next)
            try setup.tellOfTables(plan.next)
            let writer = session(core)
            // What a peer keeps for this store is of one version, and the other could not read it.
            if try !Peers(writer).known().isEmpty {
                throw StorageError(
                    .unsupported, "a store that commits together with others cannot be used in two versions of the model at once")
            }
            try writer.setNote(PastVersion.noteName(metadata.migrations), past(step.mapping, until: .max).bytes)
            let phase: RollingMigrationState.Phase = plan.fillings.isEmpty && plan.freshIndexes.isEmpty ? .ready : .filling
            try connection.setMetadata(RollingRecord(step.mapping.destination, phase: phase, since: since).entries)
        }
    }

    /// All tables that change, in one order whoever asks.
    private func lock(_ plan: RollingPlan) throws(StorageError) {
        let tables = plan.shared.map { plan.next.table($0.root) }.sorted() + ["polystore_history"]
        for table in tables { try connection.execute("LOCK TABLE \(SQLText.quoted(table)) IN ACCESS EXCLUSIVE MODE") }
    }

    private func past(_ mapping: SchemaMapping, until: Int64) -> PastVersion {
        PastVersion(mapping, until: until) { _, _ in 0 }
    }

    /// Fills what the newer version has of the objects that are there.
    func backfill(
        _ pace: BackfillPace, _ report: (BackfillProgress) throws(StorageError) -> Void
    ) throws(StorageError) {
        let step = try current()
        if step.record.phase == .ready { return }
        // The lock dies with the connection.
        guard try connection.text("SELECT pg_try_advisory_lock(\(core.lock &+ 1))::int") == "1" else {
            throw StorageError(.busy, "another program fills the store")
        }
        defer {
            // The connection goes back to others, and the lock must not.
            if (try? connection.text("SELECT pg_advisory_unlock(\(core.lock &+ 1))")) != "t" { connection.giveUp() }
        }
        for filling in step.plan.fillings { try fill(filling, step, pace, report) }
        for index in step.plan.freshIndexes { try make(index, step.plan) }
        try patiently(WriteOptions(timeout: 30)) { () throws(StorageError) in
            try hold(step)
            try connection.setMetadata(RollingRecord(step.record.schema, phase: .ready, since: step.record.since).entries)
        }
    }

    /// Keeps others from ending the step under a transaction.
    ///
    /// - Throws: `notFound` where somebody has.
    private func hold(_ step: Step) throws(StorageError) {
        let hash = try connection.text(
            "LOCK TABLE polystore_metadata IN ACCESS SHARE MODE; SELECT value FROM polystore_metadata WHERE key = '\(RollingRecord.hashKey)'"
        )
        if hash != step.next.hash { throw StorageError(.notFound, "the step was ended by another program") }
    }

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
            if pace.pause > 0 { Thread.sleep(forTimeInterval: pace.pause) }
        }
    }

    /// About how many rows a table has: as the server estimates, and counted where it has never looked.
    private func objectCount(_ table: String) throws(StorageError) -> Int {
        let estimate = try connection.query(
            "SELECT reltuples::int8 FROM pg_class WHERE oid = to_regclass($1::text)", [.init(.value(.string(table), .string))])
        if let rows = estimate.integer(0, 0), rows > 0 { return Int(rows) }
        return Int(try connection.query("SELECT count(*) FROM \(table)", []).integer(0, 0) ?? 0)
    }

    /// Makes an index while others write. One that an earlier attempt left behind half made is made anew.
    private func make(_ index: SQLTables.IndexStatement, _ plan: RollingPlan) throws(StorageError) {
        let state = try connection.query(
            "SELECT indisvalid::int::int8 FROM pg_index WHERE indexrelid = to_regclass($1::text)",
            [.init(.value(.string(SQLText.quoted(index.name)), .string))])
        if state.integer(0, 0) == 1 { return }
        if state.count > 0 { try connection.execute("DROP INDEX \(SQLText.quoted(index.name))") }
        if index.constraint != nil { try PostgreSQLMigration.refuseDuplicates(index, plan.next, connection) }
        do throws(StorageError) {
            try connection.execute(RollingPlan.concurrently(index.creation))
        } catch {
            try? connection.execute("DROP INDEX IF EXISTS \(SQLText.quoted(index.name))")
            if index.constraint != nil { try PostgreSQLMigration.refuseDuplicates(index, plan.next, connection) }
            throw error
        }
    }

    /// Ends the step with the newer version.
    ///
    /// - Returns: What the store keeps then.
    func contract(_ options: WriteOptions) throws(StorageError) -> StoreMetadata {
        let step = try current()
        if step.record.phase != .ready { throw step.record.notReady(step.metadata.schema) }
        let roots = Set(step.plan.shared.map(\.root))
        try patiently(options) { () throws(StorageError) in
            try MigrationChecks(step.mapping, session(core)).check(inPlace: roots)
        }
        // Most of the history is translated while others work.
        while try translateHistory(step) == Self.entriesAtOnce {}
        try patiently(options) { () throws(StorageError) in
            // Every session holds this lock: from here on there is none.
            try connection.execute("LOCK TABLE polystore_metadata IN ACCESS EXCLUSIVE MODE")
            _ = try current()
            while try translateHistory(step) > 0 {}
            try connection.execute(
                """
                UPDATE polystore_history SET changes = changes_next WHERE changes_next IS NOT NULL;
                ALTER TABLE polystore_history DROP COLUMN changes_next
                """)
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

    /// Translates some entries that programs of the older version have written since the step began.
    private func translateHistory(_ step: Step) throws(StorageError) -> Int {
        let past = past(step.mapping, until: .max), scratch = RowBatch(capacity: 1)
        let found = try connection.query(
            """
            SELECT position, changes FROM (SELECT position, changes, sum(octet_length(changes)) OVER (
                ORDER BY position ROWS UNBOUNDED PRECEDING) - octet_length(changes) AS bytes
            FROM polystore_history WHERE position > $1::int8 AND changes_next IS NULL ORDER BY position LIMIT $2::int8) AS entries
            WHERE bytes < \(PostgreSQLRows.usualBytes) ORDER BY position
            """,
            [PostgreSQLParameter(step.record.since), PostgreSQLParameter(Int64(Self.entriesAtOnce))])
        var positions: [Int64] = [], texts: [Cell] = []
        let batch = RowBatch(capacity: 1)
        for row in 0..<found.count {
            scratch.clear()
            guard let changes = HistoryRecorder.decode(try found.cell(row, 1, scratch).bytes) else { throw .damagedHistory }
            try changes.check(step.metadata.schema)
            var recorder = HistoryRecorder()
            recorder.add(past.translated(changes))
            positions.append(found.integer(row, 0) ?? 0)
            texts.append(batch.cell(for: .data(Data(recorder.encode()))))
        }
        if positions.isEmpty { return 0 }
        _ = try connection.query(
            "UPDATE polystore_history h SET changes_next = u.c FROM unnest($1::int8[], $2::bytea[]) u(p, c) WHERE h.position = u.p",
            [PostgreSQLParameter(keys: positions), PostgreSQLParameter(array: texts, .data)])
        return positions.count
    }

    /// Ends the step with the older version.
    func abandon(acceptingLosses acceptsLosses: Bool, _ options: WriteOptions) throws(StorageError) {
        let step = try current()
        try patiently(options) { () throws(StorageError) in
            try connection.execute("LOCK TABLE polystore_metadata IN ACCESS EXCLUSIVE MODE")
            _ = try current()
            if !acceptsLosses { try refuseLosses(step.plan) }
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
            "programs of version \"\(plan.mapping.destination.version)\" have stored what the older one has no place for: "
                + "\(lost.joined(separator: ", ")); accept its loss, or contract")
    }
}
#endif
