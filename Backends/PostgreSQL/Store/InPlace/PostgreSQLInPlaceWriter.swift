#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The write transaction over the tables of another program. Versions and history are kept by triggers, which see every writer.
final class PostgreSQLInPlaceWriter: PostgreSQLInPlaceReader, SQLInPlaceWriter, HistoryPurgingWriter, SQLWriter {
    static let checksReferencesAtOnce = true

    private static let mostKeys = 1000

    let rowBatch = RowBatch(capacity: 16_384)
    private let lane: PostgreSQLLane
    var savepoints = Savepoints<Void>()

    init(_ lane: PostgreSQLLane, _ inPlace: PostgreSQLInPlace) {
        self.lane = lane
        super.init(lane.core, lane.connection, inPlace)
    }

    // The base class would give back when the properties of this one are gone.
    deinit { end() }

    override func giveBack() { lane.leave() }

    // MARK: Keys

    /// Keys of the table's own sequence; where it has none, of one beside it that follows the table, under a lock that keeps others out.
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        let isOwn = inPlace.sequences[entity] != nil
        if !isOwn { try connection.execute("LOCK TABLE \(inPlace.tables.tables[entity].source) IN SHARE ROW EXCLUSIVE MODE") }
        var keys = isOwn ? inPlace.keys.withLock { $0.removeValue(forKey: entity) } ?? [] : []
        if keys.isEmpty { keys = try next(entity, min(count, Self.mostKeys)) }
        guard let first = keys.first else { throw StorageError(.corrupted, "the sequence gives no keys") }
        var end = 1
        while end < min(count, keys.count), keys[end] == first + Int64(end) { end += 1 }
        let rest = Array(keys[end...])
        if isOwn, !rest.isEmpty { inPlace.keys.withLock { $0[entity, default: []] += rest } }
        return first..<(first + Int64(end))
    }

    private func next(_ entity: EntityIndex, _ count: Int) throws(StorageError) -> [Int64] {
        let table = inPlace.tables.tables[entity]
        let sequence: SQLText = "\(bind: .string(inPlace.sequence(entity)), .string)::regclass"
        let values: SQLText = "SELECT nextval(\(sequence)) FROM generate_series(1, \(raw: String(count)))"
        let keys = try connection.rows(values, [.int64]).map { $0[0].number }.sorted()
        // A sequence that was left behind by keys that somebody gave himself is brought to them.
        let last: SQLText = "SELECT coalesce(max(t.\(identifier: table.key)), 0)::int8 FROM \(raw: table.source) AS t"
        let greatest = try connection.number(last) ?? 0
        if let first = keys.first, first > greatest { return keys }
        if let last = keys.last, last < greatest { _ = try connection.query("SELECT setval(\(sequence), \(bind: .int(greatest), .int64))") }
        return try connection.rows(values, [.int64]).map { $0[0].number }.filter { $0 > greatest }.sorted()
    }

    // MARK: The end

    var written: InPlaceTables { inPlace.tables }

    var log: SQLText {
        """
        SELECT source, key, kind, changed FROM polystore_log WHERE position = pg_current_xact_id_if_assigned()::text::int8 ORDER BY number
        """
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        let entry = try connection.number(
            """
            INSERT INTO polystore_commits SELECT pg_current_xact_id()::text::int8, \(bind: .int(record.entryTime), .int64), \(bind: .string(record.author), .string)
            WHERE EXISTS (SELECT 1 FROM polystore_log WHERE position = pg_current_xact_id_if_assigned()::text::int8) RETURNING position
            """)
        let transaction = try connection.number("SELECT pg_current_xact_id_if_assigned()::text::int8")
        try inPlace.rules.explaining { () throws(StorageError) in try commit(lane, transaction) }
        return entry.map(core.token)
    }

    func execute(_ sql: RawSQL) throws(StorageError) -> Int { try change(sql) }

    /// References are checked with each statement, whatever order the rows come in.
    private static let takesNoLoad = StorageError(
        .unsupported,
        "a schema of PostgreSQL that is used in place takes no bulk load: its references are checked with each statement; load a store of its own"
    )

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { throw Self.takesNoLoad }

    func load(link: Int, _ pairs: [Link]) throws(StorageError) { if !pairs.isEmpty { throw Self.takesNoLoad } }
}
#endif
