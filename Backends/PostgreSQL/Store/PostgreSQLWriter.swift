#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A write session.
class PostgreSQLWriter: PostgreSQLReader, SQLTableWriter, HistoryPurgingWriter, KeyRaisingWriter, SQLWriter {
    private let lane: PostgreSQLLane
    /// Whether the history was settled before the transaction began. A transaction that began before settles it too: of two that do so at
    /// the same time the server commits one, and the other one, when repeated, has a greater ID than the floor.
    private let isSettled: Bool
    private var settlesHistory = false
    var recorder: HistoryRecorder
    var savepoints = Savepoints<HistoryRecorder.Mark>()
    private var dropped: [SQLTables.IndexStatement] = []
    private var prepared: Set<EntityIndex> = []
    private let part: BulkLoad?
    private let sharesLoad: Bool
    /// Whether the rest of the transaction counts as unrecorded.
    private var isUnrecorded = false
    /// Whether a statement of the transaction may have made changes that its history entry does not record.
    private var hasUnrecorded: Bool
    /// The roots for which the session has reserved keys.
    private(set) var reserved: Set<EntityIndex> = []
    private var greatest: [EntityIndex: Int64] = [:]
    /// The number of rows that were loaded into each table that had been empty.
    private var loaded: [EntityIndex: Int] = [:]
    /// The batch for the rows of a statement. It is large because a statement with few rows already reads a complete table of some ten
    /// thousand rows: hashing the table is cheaper than looking up thousands of rows.
    let rowBatch = RowBatch(capacity: 16_384)
    /// The statements that are sent together, with the entity whose rows they write, if any.
    var queue: [(step: PostgreSQLStep, entity: EntityIndex?, check: (PostgreSQLResult) throws(StorageError) -> Void)] = []
    var queuedBytes = 0
    /// The maximum length of the queue. Longer queues take much memory, on both sides.
    static let longestQueue = 64
    static let fewRows = 64
    /// The number of link pairs in a statement.
    static let mostLinks = 400_000

    init(_ lane: PostgreSQLLane, of core: PostgreSQLCore, _ options: WriteOptions, isSettled: Bool = false) {
        self.lane = lane
        self.isSettled = isSettled
        hasUnrecorded = !core.metadata.history.isOn
        recorder = HistoryRecorder(core.metadata.history, isFollowed: options.isFollowed)
        part = options.bulk
        sharesLoad = options.sharesLoad
        super.init(core, lane.connection)
    }

    // The base class's deinitializer would release the connection after the properties of this class are gone.
    deinit { end() }

    override func giveBack() { lane.leave() }

    override var locksRows: Bool { true }

    override var sendsAhead: Bool { false }

    override var locksNotes: Bool { sharesLoad }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        let root = core.tables.schema[entity].root
        reserved.insert(root)
        if core.wasOvertaken(root) { try raiseKeys(root) }
        if let known = core.takeKeys(root, count) { return known }
        let name = core.tables.schema.entities[root].name
        let number = max(1, (Int64(count) + PostgreSQLSetup.keyBlock - 1) / PostgreSQLSetup.keyBlock)
        let statement = "SELECT nextval('\(core.sequence(root))') FROM generate_series(1, $1::int8)"
        let result = try lane.changeKeys(isShared: true, PostgreSQLStep(statement, [PostgreSQLParameter(number)]))
        var blocks: [Range<Int64>] = []
        for row in 0..<result.count {
            guard let first = result.integer(row, 0) else { break }
            let (end, overflow) = first.addingReportingOverflow(PostgreSQLSetup.keyBlock)
            if overflow {
                if blocks.isEmpty { throw StorageError(.limitExceeded, "no primary keys are left for new objects of \(name)") }
                break
            }
            if let last = blocks.last, last.upperBound == first {
                blocks[blocks.count - 1] = last.lowerBound..<end
            } else {
                // Another session has reserved the block in between.
                blocks.append(first..<end)
            }
        }
        guard let first = blocks.first else { throw StorageError(.corrupted, "the key sequence of \(name) returned no key") }
        let keys = first.prefix(count)
        blocks[0] = keys.endIndex..<first.upperBound
        core.keep(blocks, root)
        return keys.startIndex..<keys.endIndex
    }

    /// Makes the server report the following changes as unrecorded.
    final func changeUnrecorded() throws(StorageError) {
        if isUnrecorded { return }
        try connection.execute(PostgreSQLTelling.unrecorded)
        isUnrecorded = true
        hasUnrecorded = true
    }

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try checkOpen()
        try changeUnrecorded()
        let root = core.tables.schema[root].root
        try prepareBulk(root)
        try copy(root, batch)
        var last = greatest[root] ?? 0
        for index in 0..<batch.count { last = max(last, batch.key(index)) }
        greatest[root] = last
        if let count = loaded[root] { loaded[root] = count + batch.count }
    }

    /// Drops the indexes of an empty table, to create them after the rows: one sort instead of a search for each row.
    private func prepareBulk(_ root: EntityIndex) throws(StorageError) {
        // While two versions are live, the indexes do not belong to this version alone. Dropping an index waits for all others that write.
        guard prepared.insert(root).inserted, core.rolling == nil, !sharesLoad else { return }
        let rows = try connection.query("SELECT 1::int8 FROM \(table(root)) LIMIT 1", [])
        if rows.count > 0 { return }
        loaded[root] = 0
        let missing = part == nil || part == .whole ? [] : Set(try missingIndexes().map(\.name))
        for index in core.tables.indexes() where index.root == root && !missing.contains(index.name) {
            try connection.execute(index.removal)
            dropped.append(index)
        }
    }

    /// Returns the indexes that earlier transactions of a load have dropped.
    private func missingIndexes() throws(StorageError) -> [SQLTables.IndexStatement] {
        let names: SQLText = """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind = 'i' AND n.nspname = \(bind: .string(core.schema), .string)
            """
        let present = Set(try connection.rows(names, [.string]).map { $0[0].text })
        return core.tables.indexes().filter { !present.contains($0.name) }
    }

    /// Creates the indexes that the load has dropped, and updates the statistics of the tables that it has filled, unless further
    /// transactions of the load follow.
    private func finishBulk() throws(StorageError) {
        defer { loaded.removeAll() }
        if part == .part { return dropped.removeAll() }
        if part == .last, core.rolling == nil { dropped = try missingIndexes() }
        try makeIndexes()
        // The server would plan with default estimates for a new table until its next analysis. No other session uses the table yet,
        // because creating its indexes has locked it.
        let filled = part == .last ? core.tables.schema.roots : loaded.filter { $0.value >= SQLTables.analyzedRows }.keys.sorted()
        for root in filled { try connection.execute("ANALYZE \(table(root))") }
    }

    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        try checkOpen()
        try changeUnrecorded()
        try add(pairs, link: link)
        try flush()
    }

    /// Creates the dropped indexes again: at the end, before a savepoint, and before an operation that needs them.
    func makeIndexes() throws(StorageError) {
        for index in dropped { try connection.execute(index.creation) }
        dropped.removeAll()
    }

    func mark() throws(StorageError) -> HistoryRecorder.Mark {
        try makeIndexes()
        return recorder.mark()
    }

    override func willRollBack() {
        queue.removeAll()
        queuedBytes = 0
        // The rollback also undoes what a copy has begun since then, including its errors.
        connection.abandonCopy()
        super.willRollBack()
    }

    func didRollBack(to mark: HistoryRecorder.Mark) {
        // Indexes that were dropped after the savepoint exist again.
        dropped.removeAll()
        prepared.removeAll()
        loaded.removeAll()
        isUnrecorded = false
        recorder.rewind(to: mark)
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        var transaction: Int64?
        let entry = try write(record) { () throws(StorageError) in
            // Before COMMIT is sent, so that the ID is known if the connection is lost.
            if hasUnrecorded { try send(PostgreSQLTelling.tellDeferred(core.schema), []) }
            try send("SELECT pg_current_xact_id_if_assigned()::text::int8", []) { transaction = $0.integer(0, 0) }
        }
        try commit(lane, transaction, time: entry?.time)
        if settlesHistory { core.hasSettledHistory.store(true, ordering: .releasing) }
        return entry.map { core.token($0.position) }
    }

    /// Writes all pending changes and the history entry, and sends the statements that `body` queues.
    private func write(
        _ record: CommitRecord, _ body: () throws(StorageError) -> Void = {}
    ) throws(StorageError) -> (position: Int64, time: Int64)? {
        try checkOpen()
        try finishBulk()
        for (root, key) in greatest { try raiseKeys(root, above: key) }
        var entry: (position: Int64, time: Int64)?
        try sendHistory(record) { entry = ($0, $1) }
        try body()
        try flush()
        return entry
    }

    func prepare(for commit: CommitToken, _ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        try send(PostgreSQLTelling.silent, [])
        let entry = try write(record)
        try connection.prepareTransaction(PostgreSQLPreparedName(store: core.storeID, commit: commit, isRecorded: !hasUnrecorded))
        end()
        return entry.map { core.token($0.position) }
    }

    final func raiseKeys(_ root: EntityIndex, above key: Int64) throws(StorageError) {
        let sequence = core.sequence(root), (next, overflow) = key.addingReportingOverflow(1)
        if overflow {
            throw StorageError(
                .limitExceeded, "the greatest key of \(core.tables.schema.entities[root].name) leaves no primary keys for new objects")
        }
        let raising =
            "SELECT setval('\(sequence)', $1::int8, false) FROM \(sequence) WHERE "
            + "CASE WHEN is_called THEN $1::int8 - \(PostgreSQLSetup.keyBlock) ELSE $1::int8 END > last_value"
        _ = try lane.changeKeys(isShared: false, PostgreSQLStep(raising, [PostgreSQLParameter(next)]))
        core.removeKeys(root, upTo: key)
    }

    /// Raises the key sequence of a root above the present keys.
    final func raiseKeys(_ root: EntityIndex) throws(StorageError) {
        let greatest = "SELECT max(\"_id\") FROM \(table(root)) WHERE \"_id\" <= \(RawStatement.greatestFollowedKey)"
        let answer = try connection.query(greatest, [])
        if let key = answer.integer(0, 0), key > 0 { try raiseKeys(root, above: key) }
    }

    /// Queues the history entry, if there is one.
    ///
    /// - Parameter body: Receives its position and time.
    final func sendHistory(_ record: CommitRecord, _ body: @escaping (Int64, Int64) -> Void) throws(StorageError) {
        if !core.metadata.history.isOn {
            if recorder.hasChanges {
                settlesHistory = true
                try send(PostgreSQLHistory.leavingOut(isKnown: isSettled), [])
            }
            return
        }
        let changes = recorder.encode()
        if changes.isEmpty { return }
        settlesHistory = true
        if !isSettled {
            for statement in PostgreSQLHistory.resuming(core) { try send(statement, []) }
        }
        let batch = RowBatch(capacity: 1)
        func bytes(_ changes: [UInt8]) -> PostgreSQLParameter { PostgreSQLParameter(batch.cell(for: .data(Data(changes))), .data) }
        let time = record.entryTime
        var values = [PostgreSQLParameter(time), PostgreSQLParameter(batch.cell(for: .string(record.author)), .string), bytes(changes)]
        if let rolling = core.rolling {
            // Programs of the older version read the entry in terms of their own version.
            var older = HistoryRecorder()
            older.add(recorder, by: rolling.past)
            values.insert(bytes(older.encode()), at: 2)
        }
        let places = ["$1::int8", "$2::text", "$3::bytea", "$4::bytea"].prefix(values.count).joined(separator: ", ")
        let insertion = "INSERT INTO polystore_history VALUES(\(PostgreSQLHistory.position(core)), \(places)) RETURNING position"
        try send(insertion, values) { result in
            if let position = result.integer(0, 0) { body(position, time) }
        }
    }
}
#endif
