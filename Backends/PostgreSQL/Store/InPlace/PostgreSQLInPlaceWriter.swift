#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A write transaction over the tables of another program. Triggers maintain versions and history, so that they include the changes of
/// every writer.
final class PostgreSQLInPlaceWriter: PostgreSQLInPlaceReader, SQLInPlaceWriter, HistoryPurgingWriter, SQLWriter {
    static let checksReferencesAtOnce = true, logsInOrder = false

    private static let mostKeys = 1000

    let rowBatch = RowBatch(capacity: 16_384)
    private let lane: PostgreSQLLane
    var savepoints = Savepoints<Void>()

    init(_ lane: PostgreSQLLane, _ inPlace: PostgreSQLInPlace) {
        self.lane = lane
        super.init(lane.core, lane.connection, inPlace)
    }

    // The base class's deinitializer would release the connection after the properties of this class are gone.
    deinit { end() }

    override func giveBack() { lane.leave() }

    override var locksRows: Bool { true }

    // MARK: Keys

    /// Reserves keys from the table's own sequence. Without one, reserves the keys after the greatest one that is or was in use, under a
    /// lock that excludes other sessions.
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        guard inPlace.sequences[entity] != nil else { return try follow(entity, count: count) }
        var keys = inPlace.keys.withLock { $0.removeValue(forKey: entity) } ?? []
        if keys.isEmpty { keys = try next(entity, min(count, Self.mostKeys)) }
        guard let first = keys.first else {
            throw StorageError(.corrupted, "the key sequence of \(inPlace.tables.tables[entity].name) returned no keys")
        }
        var end = 1
        while end < min(count, keys.count), keys[end] == first + Int64(end) { end += 1 }
        let rest = Array(keys[end...])
        if !rest.isEmpty { inPlace.keys.withLock { $0[entity, default: []] += rest } }
        return first..<(first + Int64(end))
    }

    /// Returns the next keys of a sequence that no row has. A sequence that lags behind explicitly assigned keys also generates keys in
    /// use. The sequence is only advanced and never set, because a rollback does not undo setting it.
    private func next(_ entity: EntityIndex, _ count: Int) throws(StorageError) -> [Int64] {
        let table = inPlace.tables.tables[entity], key: SQLText = "t.\(identifier: table.key)"
        let sequence: SQLText = "\(bind: .string(inPlace.sequence(entity)), .string)::regclass"
        var wanted = count
        while true {
            let values: SQLText = """
                WITH given AS MATERIALIZED (SELECT nextval(\(sequence)) AS key FROM generate_series(1, \(raw: String(wanted))))
                SELECT given.key FROM given WHERE NOT EXISTS (SELECT 1 FROM \(raw: table.source) AS t WHERE \(key) = given.key)
                """
            let keys = try connection.rows(values, [.int64]).map { $0[0].number }.sorted()
            if !keys.isEmpty { return keys }
            wanted = min(wanted * 2, Self.mostKeys)
        }
    }

    private func follow(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        let table = inPlace.tables.tables[entity], sequence = inPlace.sequence(entity)
        try connection.execute("LOCK TABLE \(table.source) IN SHARE ROW EXCLUSIVE MODE")
        // Polystore's sequence records keys that were reserved and not yet written, and keys of rows that the snapshot does not contain.
        let most: SQLText = "\(bind: .int(CatalogKey.greatest), .int64)"
        let last: SQLText = """
            SELECT greatest(0,
                (SELECT max(t.\(identifier: table.key))::int8 FROM \(raw: table.source) AS t WHERE t.\(identifier: table.key) <= \(most)),
                (SELECT max(v.key) FROM polystore_versions AS v WHERE v.source = \(bind: .string(table.name), .string) AND v.key <= \(most)),
                (SELECT CASE WHEN s.is_called THEN s.last_value END FROM \(raw: sequence) AS s))
            """
        let first = (try connection.number(last) ?? 0) + 1
        if first > CatalogKey.greatest { throw StorageError(.limitExceeded, "no primary keys are left for new rows of \(table.name)") }
        let end = first + Int64(count)
        let set: SQLText = "SELECT setval(\(bind: .string(sequence), .string)::regclass, \(bind: .int(end - 1), .int64))"
        _ = try connection.query(set)
        return first..<end
    }

    // MARK: The end

    var written: InPlaceTables { inPlace.tables }

    /// The transaction's own position of the log; null if it has written nothing.
    private var position: String { "(pg_current_xact_id_if_assigned()::text::int8 + \(core.historyOffset)::int8)" }

    var log: SQLText {
        """
        SELECT source, key, kind, changed FROM polystore_log WHERE position = \(raw: position) ORDER BY number
        """
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        let entry = try connection.number(
            """
            INSERT INTO polystore_commits SELECT \(raw: position), \(bind: .int(record.entryTime), .int64), \(bind: .string(record.author), .string)
            WHERE EXISTS (SELECT 1 FROM polystore_log WHERE position = \(raw: position)) RETURNING position
            """)
        let transaction = try connection.number("SELECT pg_current_xact_id_if_assigned()::text::int8")
        try inPlace.rules.explaining { () throws(StorageError) in try commit(lane, transaction) }
        return entry.map(core.token)
    }

    func execute(_ sql: RawSQL) throws(StorageError) -> Int { try change(sql) }

    func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows { try changeReturning(sql) }

    // MARK: Many rows

    /// Inserts rows. Each statement checks references, so the rows that they refer to have to be there, or among the same rows.
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        let slots = core.tables.schema[root].slots.count
        let rows = RowSource(count: batch.count) { range, part in
            for index in range { part.append(copying: batch.row(index), slots: slots) }
        }
        try unlogged { () throws(StorageError) in
            try insert(root, rows)
            // A row with this key may have existed before.
            let now = try versions(root, (0..<batch.count).map(batch.key))
            var others: [Int64: Int64] = [:]
            for index in 0..<batch.count where now[batch.key(index)] != batch.row(index).version {
                others[batch.key(index)] = batch.row(index).version
            }
            if !others.isEmpty { try set(others, root) }
        }
    }

    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        if pairs.isEmpty { return }
        try unlogged { () throws(StorageError) in try add(pairs, link: link) }
    }

    /// Runs a part of a bulk load, which the history does not record.
    private func unlogged(_ work: () throws(StorageError) -> Void) throws(StorageError) {
        try checkOpen()
        let last = try connection.number("SELECT max(number) FROM polystore_log WHERE position = \(raw: position)") ?? 0
        try work()
        try connection.run("DELETE FROM polystore_log WHERE position = \(raw: position) AND number > \(bind: .int(last), .int64)")
    }
}
#endif
