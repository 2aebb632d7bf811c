#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage

extension PostgreSQLStore: RollingStorage {
    /// Returns the online migration that is in progress.
    public func rollingMigration() throws(StorageError) -> RollingMigrationState? {
        if !capabilities.contains(.rollingMigrations) { return nil }
        return try withSetup { _, _, setup throws(StorageError) in
            let entries = try setup.entries()
            guard let record = try RollingRecord(entries) else { return nil }
            return RollingMigrationState(
                source: try StoreMetadata(entries: entries).schema, destination: record.schema, phase: record.phase)
        }
    }

    /// Returns the statements of each phase.
    public func explanation(ofRolling step: MigrationStep) throws(StorageError) -> [String] {
        try withSetup { _, core, _ throws(StorageError) in
            try core.metadata.check(step)
            return try RollingPlan(step, from: core.metadata, to: StoreMetadata(migrating: core.metadata, step.mapping)).lines(schema)
        }
    }

    /// Adds columns and tables beside the existing ones, with the triggers that synchronize them.
    public func expand(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) {
        try writing(options) { rolling throws(StorageError) in try rolling.expand(step, options) }
    }

    /// Fills the columns, one range of keys after the other, and creates indexes concurrently.
    public func backfill(
        _ pace: BackfillPace, _ report: (BackfillProgress) throws(StorageError) -> Void
    ) throws(StorageError) {
        // It changes nothing that is visible to a version, so it needs no slot among the writers.
        try withSetup { connection, core, setup throws(StorageError) in
            try PostgreSQLRolling(store: self, connection: connection, core: core, setup: setup).backfill(pace, report)
        }
    }

    /// Removes everything that only the older version has. The store then uses the newer version.
    public func contract(_ options: WriteOptions, check: (ReadSession) throws(StorageError) -> Void) throws(StorageError) {
        let core = try opened()
        let next = try writing(options) { rolling throws(StorageError) in try rolling.contract(options, check) }
        publish(core.core(of: next), after: core)
    }

    /// Removes everything that only the newer version has.
    public func abandon(acceptingLosses acceptsLosses: Bool, _ options: WriteOptions) throws(StorageError) {
        try writing(options) { rolling throws(StorageError) in try rolling.abandon(acceptingLosses: acceptsLosses, options) }
    }

    private func withSetup<Answer>(
        _ body: (PostgreSQLConnection, PostgreSQLCore, PostgreSQLSetup) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        let core = try opened()
        try owner.checkOwn()
        let connection = try core.writers.begin(nil, timeout: 30) { connection throws(StorageError) in
            try connection.execute("SELECT")
            return connection
        }
        defer { core.writers.give(connection) }
        return try body(connection, core, PostgreSQLSetup(connection, schema))
    }

    /// Runs `body` with a slot among the writers, which excludes other migration steps.
    private func writing<Answer>(
        _ options: WriteOptions, _ body: (PostgreSQLRolling) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        let core = try opened()
        try owner.checkOwn()
        if core.rolling != nil {
            throw StorageError(
                .invalidConfiguration,
                "the store is open with the newer version of the model: open it with the older one, or without a model")
        }
        let lane = try lane(core, options) { $0 }
        defer { lane.leave() }
        return try body(
            PostgreSQLRolling(store: self, connection: lane.connection, core: core, setup: PostgreSQLSetup(lane.connection, schema)))
    }
}
#endif
