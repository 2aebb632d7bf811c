#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore {
    /// The statements of a step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try owner.checkOwn()
        let metadata = try opened().metadata.after(earlier)
        try metadata.check(step)
        return SQLMigration(step, from: metadata, to: StoreMetadata(migrating: metadata, step.mapping), .postgreSQL).lines()
    }

    /// Starts to lead the store to another version of the model, in one transaction: other programs read the old version meanwhile, and
    /// those that write wait, those that write to the tables themselves included.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try owner.checkOwn()
        var options = options
        options.isExclusive = true
        let core = try opened()
        return try lane(core, options) { lane throws(StorageError) in
            let connection = lane.connection
            try connection.checkBackend(
                connection.text("BEGIN; SET LOCAL lock_timeout = \(options.milliseconds); SELECT pg_backend_pid()"))
            let entries = try PostgreSQLSetup(connection, schema).entries()
            var metadata = try StoreMetadata(entries: entries)
            metadata.history.isOn = core.metadata.history.isOn
            if let record = try RollingRecord(entries) { throw record.underWay }
            try metadata.check(step)
            // Programs of ours wait for the lock of the writers; who writes by hand waits for the tables, which may be copied and dropped.
            let tables = SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers), model = tables.schema
            let names = model.roots.map { tables.table($0) } + model.links.indices.map { tables.table(link: $0) }
            if !names.isEmpty {
                let list = names.sorted().map(SQLText.quoted).joined(separator: ", ")
                try connection.execute("LOCK TABLE \(list) IN SHARE ROW EXCLUSIVE MODE")
            }
            return PostgreSQLMigration(step, metadata, lane, schema) { [weak self] next in self?.core.withLock { $0 = next } }
        }
    }
}
#endif
