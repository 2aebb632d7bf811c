#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore {
    /// Returns the statements of a migration step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try owner.checkOwn()
        let metadata = try opened().metadata.after(earlier)
        try metadata.check(step)
        return SQLMigration(step, from: metadata, to: StoreMetadata(migrating: metadata, step.mapping), .postgreSQL).lines()
    }

    /// Begins a migration of the store to another version of the model, in one transaction. Meanwhile other programs can read the old
    /// version, and programs that write wait, including those that write to the tables directly.
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
            // Polystore programs wait for the lock of the writers. Programs that write directly wait for the tables, which may be copied
            // and dropped.
            let tables = SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers), model = tables.schema
            let names = model.roots.map { tables.table($0) } + model.links.indices.map { tables.table(link: $0) }
            if !names.isEmpty {
                let list = names.sorted().map(SQLText.quoted).joined(separator: ", ")
                try connection.execute("LOCK TABLE \(list) IN SHARE ROW EXCLUSIVE MODE")
            }
            return PostgreSQLMigration(step, metadata, lane, schema) { [weak self] next in _ = self?.publish(next, after: core) }
        }
    }
}
#endif
