#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A write transaction over the tables of another program. Triggers maintain versions and history, so that they include the changes of
/// every writer.
final class SQLiteInPlaceWriter: SQLiteInPlaceReader, SQLInPlaceWriter, HistoryPurgingWriter, SQLWriter {
    static let checksReferencesAtOnce = false, logsInOrder = true

    let rowBatch = RowBatch(capacity: 500)
    /// The hierarchies for which the transaction reserved keys, and those for which it inserted rows.
    private var reserved: Set<EntityIndex> = []
    var inserted: Set<EntityIndex> = []
    /// Whether the tables that the transaction has changed have triggers of the owner, by the name of the table.
    var answered: [String: Bool] = [:]
    var savepoints = Savepoints<Void>()
    /// The highest position of the log before the transaction.
    private let start: Int64
    /// The mark that identifies the commit.
    private var entry: SQLiteCommitMark?

    /// Creates a session for a transaction that holds the write lock.
    init(begun core: SQLiteCore, _ connection: SQLiteConnection, _ inPlace: SQLiteInPlace) throws(StorageError) {
        // References are checked at the end. Until then they may refer to rows that do not exist yet.
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        start = try Self.lastPosition(connection)
        super.init(core, connection, inPlace)
    }

    // The base class's deinitializer would release the connection after the properties of this class are gone.
    deinit { end() }

    override func giveBack() {
        connection.end()
        core.writer.leave()
    }

    func lastPosition() throws(StorageError) -> Int64 { try Self.lastPosition(connection) }

    private static func lastPosition(_ connection: SQLiteConnection) throws(StorageError) -> Int64 {
        try connection.integer("SELECT seq FROM main.sqlite_sequence WHERE name = 'polystore_log'") ?? 0
    }

    // MARK: Keys

    /// Reserves the keys after the greatest key ever used, except for those that are too great to be keys. The transaction holds the file's
    /// write lock, so no other transaction can reserve them at the same time.
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        let table = inPlace.tables.tables[entity], name: SQLText = "\(bind: .string(table.name), .string)"
        let most: SQLText = "\(bind: .int(CatalogKey.greatest), .int64)"
        let text: SQLText = """
            SELECT max(0,
                coalesce((SELECT max(\(identifier: table.key)) FROM \(raw: table.source) WHERE \(identifier: table.key) <= \(most)), 0),
                coalesce((SELECT max("key") FROM main.polystore_versions WHERE source = \(name) AND "key" <= \(most)), 0),
                coalesce((SELECT seq FROM main.sqlite_sequence WHERE name = \(name) AND seq <= \(most)), 0),
                coalesce((SELECT next - 1 FROM main.polystore_keys WHERE source = \(name)), 0))
            """
        let last = try connection.number(text) ?? 0
        if last >= CatalogKey.greatest { throw StorageError(.limitExceeded, "no primary keys are left for new rows of \(table.name)") }
        let keys = (last + 1)..<(last + 1 + Int64(count))
        try connection.run("INSERT OR REPLACE INTO main.polystore_keys VALUES(\(name), \(bind: .int(keys.upperBound), .int64))")
        reserved.insert(entity)
        return keys
    }

    /// Settles the reserved keys. Where the transaction inserted rows, keys without a row become free again. Where it inserted none, the
    /// keys stay reserved, for objects that are written later.
    private func settleKeys() throws(StorageError) {
        for entity in reserved.sorted() {
            let table = inPlace.tables.tables[entity], name: SQLText = "\(bind: .string(table.name), .string)"
            if inserted.contains(entity) {
                try connection.run("DELETE FROM main.polystore_keys WHERE source = \(name)")
                continue
            }
            // Where the engine itself stores the greatest key ever used, other programs respect it.
            let last: SQLText = "(SELECT next - 1 FROM main.polystore_keys WHERE source = \(name))"
            try connection.run("UPDATE main.sqlite_sequence SET seq = \(last) WHERE name = \(name) AND seq < \(last)")
        }
    }

    func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkOpen()
        let position = try beginning(min(try core.position(token) ?? 0, try lastPosition()))
        try connection.purgeHistory(["main.polystore_log", "main.polystore_commits"], through: position)
    }

    // MARK: The end

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        try settleKeys()
        let token = try writeHistory(record)
        try connection.commit({ entry?.token(core.storeID) }, { SQLiteInPlaceError(connection, inPlace).error($0, nil, since: start) })
        end()
        return token
    }

    var written: InPlaceTables { inPlace.tables }

    var log: SQLText {
        """
        SELECT source, "key", kind, changed FROM main.polystore_log WHERE position > \(bind: .int(start), .int64) ORDER BY position
        """
    }

    private func writeHistory(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard let last = try connection.number("SELECT max(position) FROM main.polystore_log"), last > start else { return nil }
        let time = record.entryTime
        try connection.run(
            """
            INSERT INTO main.polystore_commits VALUES(\(bind: .int(last), .int64), \(bind: .int(start + 1), .int64), \
            \(bind: .int(time), .int64), \(bind: .string(record.author), .string))
            """)
        entry = SQLiteCommitMark(position: last, time: time, author: record.author, content: [])
        return core.token(last)
    }

    func execute(_ sql: RawSQL) throws(StorageError) -> Int { try change(sql) }

    func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows { try changeReturning(sql) }
}
#endif
