#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A write session.
class SQLiteWriter: SQLiteReader, SQLTableWriter, HistoryPurgingWriter, KeyRaisingWriter, SQLWriter {
    var recorder: HistoryRecorder
    var savepoints = Savepoints<HistoryRecorder.Mark>()
    private let options: WriteOptions
    private(set) var bulk: SQLiteBulkLoad?
    /// The changes of the transaction that its history entry does not record.
    var beside = ChangesBeside()
    /// Whether the position of the history rises although the transaction writes no entry.
    private var raisesPosition = false
    let rowBatch = RowBatch(capacity: 500)
    private let inserts: SQLiteInsert
    /// Returns the mark that identifies the commit.
    private var entry: (() -> SQLiteCommitMark)?

    init(_ core: SQLiteCore, _ connection: SQLiteConnection, _ options: WriteOptions) throws(StorageError) {
        self.options = options
        recorder = HistoryRecorder(core.metadata.history, isFollowed: options.isFollowed)
        inserts = SQLiteInsert(core.tables, connection)
        super.init(core, connection)
        if let part = options.bulk { bulk = try SQLiteBulkLoad(core, connection, part) }
    }

    // The base class's deinitializer would release the connection after the properties of this class are gone.
    deinit { end() }

    override func giveBack() {
        connection.end()
        bulk?.restoreSettings()
        core.writer.leave()
    }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        beside.quietly()
        let root = core.tables.schema[entity].root
        let statement = try connection.statement(
            "INSERT INTO polystore_counters(root, next) VALUES(?1, 1 + ?2) ON CONFLICT(root) DO UPDATE SET next = next + ?2 RETURNING next"
        )
        defer { statement.reset() }
        statement.bind(try name(root), at: 1)
        statement.bind(.int(Int64(count)), at: 2)
        let code = statement.advance()
        // A counter has become a real number, which a strict table refuses in an integer column.
        if code == SQLiteConstraint.wrongType {
            let name = core.tables.schema.entities[root].name
            throw StorageError(
                .limitExceeded, "no primary keys are left for new objects of \(name)", details: .init(entity: name))
        }
        if code != SQLITE_ROW { throw connection.error(code) }
        let next = sqlite3_column_int64(statement.handle, 0), (first, isOver) = next.subtractingReportingOverflow(Int64(count))
        guard !isOver, first > 0 else {
            let name = core.tables.schema.entities[root].name
            throw StorageError(
                .corrupted, "the key counter of \(name) is damaged; restore the database from a backup", details: .init(entity: name))
        }
        return first..<next
    }

    func raiseKeys(_ root: EntityIndex, above key: Int64) throws(StorageError) {
        try checkOpen()
        beside.quietly()
        try core.raiseKeys(root, above: key, connection)
    }

    private let names = RowBatch(capacity: 1)
    private func name(_ root: EntityIndex) throws(StorageError) -> Cell {
        names.clear()
        return names.cell(for: .string(core.tables.schema.entities[root].name))
    }

    func delete(_ entity: EntityIndex, _ deletions: [RowDeletion]) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(entity))
        let any = try connection.statement("DELETE FROM \(table) WHERE \"_id\" = ?1")
        let versioned = try connection.statement("DELETE FROM \(table) WHERE \"_id\" = ?1 AND \"_version\" = ?2")
        for deletion in deletions {
            let statement = deletion.expectedVersion == nil ? any : versioned
            statement.bind(.int(deletion.key), at: 1)
            if let version = deletion.expectedVersion { statement.bind(.int(version), at: 2) }
            try check(statement.run(), entity)
            if connection.changes != 1 { throw try missing(entity, deletion.key, deletion.expectedVersion) }
            recorder.delete(entity, deletion.key)
        }
    }

    func clear(_ slots: [Int], _ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        let columns = slots.map { "\(SQLText.quoted(core.tables.column(entity, $0))) = NULL" }.joined(separator: ", ")
        let statement = try connection.statement(
            "UPDATE \(SQLText.quoted(core.tables.table(entity))) SET \(columns) WHERE \"_id\" = ?1")
        try rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for row in 0..<batch.count {
                statement.bind(.int(batch.key(row)), at: 1)
                try check(statement.run(), entity)
            }
        }
    }

    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let slots = update.mask.slots
        var columns = slots.enumerated().map { "\(SQLText.quoted(core.tables.column(entity, $1))) = ?\($0 + 2)" }
        columns.append("\"_version\" = \"_version\" + 1")
        let condition = update.checksVersion ? " AND \"_version\" = ?\(slots.count + 2)" : ""
        let statement = try connection.statement(
            "UPDATE \(SQLText.quoted(core.tables.table(entity))) SET \(columns.joined(separator: ", ")) WHERE \"_id\" = ?1\(condition)")
        let versionAt = update.checksVersion ? Int32(slots.count + 2) : 0
        try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                statement.bind(.int(row.key), at: 1)
                for (position, slot) in slots.enumerated() { statement.bind(row[slot], at: Int32(truncatingIfNeeded: position &+ 2)) }
                if versionAt > 0 { statement.bind(.int(row.version), at: versionAt) }
                let code = statement.run()
                if code != SQLITE_DONE { try check(code, entity) }
                if sqlite3_changes(connection.handle) != 1 {
                    throw try missing(entity, row.key, update.checksVersion ? row.version : nil)
                }
                recorder.update(entity, row.key, update.mask)
            }
        }
    }

    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        try rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            try inserts.insert(entity, batch, 0..<batch.count)
            for index in 0..<batch.count { recorder.insert(entity, batch.key(index)) }
        }
    }

    func remove(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(link: link)), owner = core.tables.schema.links[link].owner
        let remove = try connection.statement("DELETE FROM \(table) WHERE \"owner\" = ?1 AND \"member\" = ?2")
        for pair in pairs {
            remove.bind(.int(pair.owner), at: 1)
            remove.bind(.int(pair.member), at: 2)
            try check(remove.run(), owner)
            // A pair that another transaction has removed is no error, and one that is still there was kept by a trigger.
            if connection.changes == 0, try contains(pair, table) { throw SQLiteConstraint.ignored(core.tables, owner) }
        }
    }

    private func contains(_ pair: LinkPair, _ table: String) throws(StorageError) -> Bool {
        let find = try connection.statement("SELECT 1 FROM \(table) WHERE \"owner\" = ?1 AND \"member\" = ?2")
        defer { find.reset() }
        find.bind(.int(pair.owner), at: 1)
        find.bind(.int(pair.member), at: 2)
        return try find.step()
    }

    func add(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(link: link)), owner = core.tables.schema.links[link].owner
        let add = try connection.statement(
            "INSERT INTO \(table)(\"owner\", \"rank\", \"member\") VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET \"rank\" = excluded.\"rank\""
        )
        for pair in pairs {
            add.bind(.int(pair.owner), at: 1)
            add.bind(.int(pair.rank), at: 2)
            add.bind(.int(pair.member), at: 3)
            try check(add.run(), owner)
            if connection.changes != 1 { throw SQLiteConstraint.ignored(core.tables, owner) }
        }
    }

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try checkOpen()
        beside.rows()
        if bulk == nil { bulk = try SQLiteBulkLoad(core, connection) }
        try bulk?.load(root, batch)
    }

    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        try checkOpen()
        beside.rows()
        try add(pairs, link: link)
    }

    func didWriteNote() { beside.quietly() }

    func mark() throws(StorageError) -> HistoryRecorder.Mark {
        try bulk?.makeIndexes()
        return recorder.mark()
    }

    func didRollBack(to mark: HistoryRecorder.Mark) {
        bulk?.forget()
        beside.quietly()
        recorder.rewind(to: mark)
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        try bulk?.finish()
        let token = try writeHistory(record)
        let isListed = token != nil || raisesPosition
        try writeQuiet(isListed: isListed)
        try core.writer.commits.count(isListed: isListed, isUnlisted: beside.hasRows) { () throws(StorageError) in
            try connection.commit({ entry?().token(core.storeID) }, { connection.error($0) })
        }
        if token != nil { core.hasResumedHistory.store(true, ordering: .relaxed) }
        let log = connection.log
        end()
        if let log, let flush = core.writer.flush {
            record.didBecomeVisible?()
            do throws(StorageError) { try flush.wait(for: log) } catch {
                throw SQLiteConnection.inDoubt(entry?().token(core.storeID), error)
            }
        }
        return token
    }

    func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkHistory()
        beside.quietly()
        let newest = try connection.number("SELECT max(position) FROM polystore_history") ?? 0
        try connection.purgeHistory(["polystore_history"], through: min(core.position(token) ?? 0, newest))
    }

    final func writeHistory(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        if !core.metadata.history.isOn {
            if recorder.hasChanges {
                beside.rows()
                raisesPosition = try SQLiteHistory(core, connection).leaveOut()
            }
            return nil
        }
        let changes = recorder.encode()
        if changes.isEmpty { return nil }
        let time = record.entryTime
        let token = try SQLiteHistory(core, connection).add(
            time, record.author, changes, isFirst: !core.hasResumedHistory.load(ordering: .relaxed))
        entry = { SQLiteCommitMark(position: token.position, time: time, author: record.author, content: changes) }
        return token
    }

    /// Throws the error of a changing statement's result code. A violated constraint is reported with its name.
    func check(_ code: Int32, _ entity: EntityIndex) throws(StorageError) {
        if code == SQLITE_DONE { return }
        throw SQLiteConstraint.error(code, connection, core.tables, entity)
    }

    /// Returns the error for a row that a statement has not changed.
    ///
    /// - Parameter version: The version that the statement required; nil for any.
    func missing(_ entity: EntityIndex, _ key: Int64, _ version: Int64?) throws(StorageError) -> StorageError {
        let name = core.tables.schema.entities[entity].name
        let layout = core.keyLayout(entity)
        let statement = try connection.statement(layout.sql)
        defer { statement.reset() }
        statement.bind(.int(key), at: 1)
        let details = StorageError.Details(entity: name, keys: [key])
        if try statement.step() {
            let text: SQLText =
                "SELECT \"_version\" FROM \(identifier: core.tables.table(entity)) WHERE \"_id\" = \(bind: .int(key), .int64)"
            let stored = try connection.number(text)
            if version == nil || version == stored { return SQLiteConstraint.ignored(core.tables, entity) }
            return StorageError(.staleObject, "\(name) \(key) was changed by another transaction since it was read", details: details)
        }
        return StorageError(.notFound, "\(name) \(key) no longer exists", details: details)
    }
}

extension SQLiteWriter {
    func change(_ entity: EntityIndex, _ text: SQLText, _ body: (Int64, Int64?) -> Void) throws(StorageError) {
        let isHierarchy = core.tables.schema[entity].isHierarchy, statement = try connection.statement(text)
        defer { statement.reset() }
        while true {
            let code = statement.advance()
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw SQLiteConstraint.error(code, connection, core.tables, entity) }
            body(sqlite3_column_int64(statement.handle, 0), isHierarchy ? sqlite3_column_int64(statement.handle, 1) : nil)
        }
    }
}

extension SQLiteWriter {
    /// Inserts or updates rows with `ON CONFLICT DO UPDATE`, one row for each statement, because `RETURNING` guarantees no order of several
    /// rows (https://sqlite.org/lang_returning.html).
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try checkOpen()
        try bulk?.makeIndexes()
        let description = core.tables.schema[upsert.entity]
        let statement = try connection.statement(core.tables.upsert(upsert, rows: core.tables.upsertValues(upsert.entity)))
        var result: [UpsertedRow] = []
        result.reserveCapacity(upsert.rows.count)
        try upsert.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                statement.bind(.int(row.key), at: 1)
                statement.bind(.int(1), at: 2)
                for slot in description.slots.indices { statement.bind(row[slot], at: Int32(truncatingIfNeeded: slot &+ 3)) }
                let code = statement.advance()
                defer { statement.reset() }
                if code == SQLITE_DONE {
                    throw description.isHierarchy
                        ? .upsertOfAnotherEntity(upsert, core.tables.schema) : SQLiteConstraint.ignored(core.tables, upsert.entity)
                }
                if code != SQLITE_ROW { throw SQLiteConstraint.error(code, connection, core.tables, upsert.entity) }
                let key = sqlite3_column_int64(statement.handle, 0)
                // When the statement returns its first row, it has already changed the row.
                let number = description.isHierarchy ? sqlite3_column_int64(statement.handle, 1) : nil
                result.append(upserted(upsert, given: row.key, key: key, number: number))
            }
        }
        return result
    }
}

extension SQLiteWriter {
    /// The name of the counter of quiet commits among the key counters. Names of entities never begin with this prefix.
    static let quietCounter = "polystore_quiet"

    /// Records that the transaction about to be committed is of no interest to observers (`CommitLedger`).
    ///
    /// - Parameter isListed: Whether the transaction has a history entry.
    final func writeQuiet(isListed: Bool) throws(StorageError) {
        let step = beside.quietStep(isListed: isListed, isRecorded: recorder.hasChanges)
        if step == 0 { return }
        let statement = try connection.statement(
            "INSERT INTO polystore_counters(root, next) VALUES('\(Self.quietCounter)', ?1) ON CONFLICT(root) DO UPDATE SET next = next + ?1"
        )
        statement.bind(.int(step), at: 1)
        let code = statement.run()
        if code != SQLITE_DONE { throw connection.error(code) }
    }
}
#endif
