#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A store's record of an online migration step in progress.
struct RollingRecord {
    /// The newer version.
    let schema: Schema
    let phase: RollingMigrationState.Phase
    /// The transaction that began the step. History entries up to it are of the older version.
    let since: Int64
    /// The greatest keys up to which objects are filled, by the roots of the newer version.
    var filled: [EntityIndex: Int64] = [:]

    private static let schemaKey = "next.schema", phaseKey = "next.phase", sinceKey = "next.since"
    private static let filledPrefix = "next.filled."
    /// The key of the hash that every session of the newer version compares.
    static let hashKey = "next.hash"

    init(_ schema: Schema, phase: RollingMigrationState.Phase, since: Int64) {
        self.schema = schema
        self.phase = phase
        self.since = since
    }

    /// Creates the record from a store's metadata; nil if no step is in progress.
    init?(_ entries: [String: String]) throws(StorageError) {
        guard let json = entries[Self.schemaKey] else { return nil }
        guard let phase = entries[Self.phaseKey].flatMap(RollingMigrationState.Phase.init(rawValue:)),
            let since = entries[Self.sinceKey].flatMap({ Int64($0) }), let schema = try? Schema(json: json)
        else {
            throw StorageError(.corrupted, "the record of the online migration in progress is damaged; restore the database from a backup")
        }
        self.init(schema, phase: phase, since: since)
        for (key, value) in entries where key.hasPrefix(Self.filledPrefix) {
            if let root = EntityIndex(key.dropFirst(Self.filledPrefix.count)), let last = Int64(value) { filled[root] = last }
        }
    }

    /// The metadata entries of the record.
    var entries: [String: String] {
        [
            Self.schemaKey: schema.json, Self.hashKey: schema.hash.description, Self.phaseKey: phase.rawValue,
            Self.sinceKey: String(since),
        ]
    }

    /// Returns the key of the greatest filled key of a hierarchy.
    static func filledKey(_ root: EntityIndex) -> String { filledPrefix + String(root) }

    /// The statement that removes the record.
    static let removal = "DELETE FROM polystore_metadata WHERE key LIKE 'next.%'"

    /// Returns the shared state of sessions of the newer version if a request asks for that version, otherwise nil.
    ///
    /// - Throws: `busy` if that version is not filled yet.
    static func core(
        _ request: OpenRequest, _ core: PostgreSQLCore, _ setup: PostgreSQLSetup
    ) throws(StorageError) -> PostgreSQLCore? {
        guard let wanted = request.schema, wanted.hash != core.metadata.schema.hash,
            let record = try RollingRecord(try setup.entries()), record.schema.hash == wanted.hash
        else { return nil }
        if record.phase != .ready { throw record.notReady(core.metadata.schema) }
        let step = MigrationStep(SchemaMapping(from: core.metadata.schema, to: record.schema))
        let next = StoreMetadata(migrating: core.metadata, step.mapping)
        let plan = try RollingPlan(step, from: core.metadata, to: next)
        return core.core(of: next, tables: plan.next, rolling: RollingPast(past: PastVersion(returning: step.mapping), since: record.since))
    }

    /// The error for another step.
    var underWay: StorageError {
        StorageError(
            .busy,
            "an online migration to version \"\(schema.version)\" of the model is in progress: contract or abandon it first"
        )
    }

    /// Returns the error for a program whose version is not filled yet.
    func notReady(_ before: Schema) -> StorageError {
        StorageError(
            .busy,
            "the online migration from version \"\(before.version)\" of the model to \"\(schema.version)\" is not backfilled: run "
                + "backfill, and start this program again when it is done")
    }
}
#endif
