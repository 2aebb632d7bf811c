#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A session that belongs to a migration and does not own its transaction.
final class PostgreSQLMigrationSession: PostgreSQLWriter {
    private let hasIndexes: Bool

    /// - Parameter hasIndexes: Whether the tables have their indexes; otherwise the migration creates them after inserting the rows.
    init(_ lane: PostgreSQLLane, of core: PostgreSQLCore, hasIndexes: Bool = true) {
        self.hasIndexes = hasIndexes
        super.init(lane, of: core, WriteOptions(isExclusive: true))
    }

    // The base class's deinitializer would run after the object has become an instance of the base class, and release the connection.
    deinit { end() }

    override func giveBack() {}

    /// Reserves keys from the sequence, because other programs have blocks of keys after the current block of this process: only the
    /// sequence knows unused keys.
    override func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        core.removeKeys(core.tables.schema[entity].root)
        return try super.reserveKeys(entity, count: count)
    }

    override func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        if hasIndexes { return try super.load(root, batch) }
        try checkOpen()
        try copy(core.tables.schema[root].root, batch)
    }

    override func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        try makeIndexes()
        return nil
    }

    /// Writes the history entry and returns its token, or nil if nothing has changed.
    func writeHistory(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        var position: Int64?
        try sendHistory(record) { entry, _ in position = entry }
        try flush()
        return position.map(core.token)
    }
}
#endif
