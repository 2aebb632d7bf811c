#if SQLite
internal import CSQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The write transaction.
class SQLiteWriter: SQLiteReader, ChangeRecordingWriter, HistoryPurgingWriter, BatchWriter, SQLWriter {
    var recorder: HistoryRecorder
    private var savepoints = Savepoints<HistoryRecorder.Mark>()
    private let options: WriteOptions
    private(set) var bulk: SQLiteBulkLoad?
    /// What the transaction changes that its entry of the history does not name.
    var beside = ChangesBeside()
    /// Whether the position of the history rises although nothing is recorded.
    private var raisesPosition = false
    let scratchRows = RowBatch(capacity: 500)
    private let inserts: SQLiteInsert
    /// What the commit is known by.
    private var entry: (() -> SQLiteCommitMark)?

    init(_ core: SQLiteCore, _ connection: SQLiteConnection, _ options: WriteOptions) throws(StorageError) {
        self.options = options
        recorder = HistoryRecorder(core.metadata.history, isFollowed: options.isFollowed)
        inserts = SQLiteInsert(core.tables, connection)
        super.init(core, connection)
        if options.isBulk { bulk = try SQLiteBulkLoad(core, connection) }
    }

    // The base class would give back when the properties of this one are gone.
    deinit { end() }

    override func giveBack() {
        connection.end()
        bulk?.restoreSettings()
        core.writer.leave()
    }

    var recordedChanges: HistoryChanges? { recorder.changes }

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
        if code == Self.wrongType {
            throw StorageError(.limitExceeded, "the keys of \(core.tables.schema.entities[root].name) are used up")
        }
        if code != SQLITE_ROW { throw connection.error(code) }
        let next = sqlite3_column_int64(statement.handle, 0), (first, isOver) = next.subtractingReportingOverflow(Int64(count))
        guard !isOver, first > 0 else { throw StorageError(.corrupted, "the key counter is damaged; restore the database from a backup") }
        return first..<next
    }

    private let names = RowBatch(capacity: 1)
    private func name(_ root: EntityIndex) throws(StorageError) -> Cell {
        names.clear()
        return names.cell(for: .string(core.tables.schema.entities[root].name))
    }

    func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        for change in changes.entities { try delete(change) }
        for change in changes.entities { try park(change) }
        for change in changes.entities { for update in change.updates { try self.update(change.entity, update) } }
        for change in changes.entities { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        for change in changes.links { try apply(change) }
    }

    private func delete(_ change: EntityChanges) throws(StorageError) {
        if change.deletes.isEmpty { return }
        try remember(change)
        let table = SQLText.quoted(core.tables.table(change.entity))
        let any = try connection.statement("DELETE FROM \(table) WHERE \"_id\" = ?1")
        let versioned = try connection.statement("DELETE FROM \(table) WHERE \"_id\" = ?1 AND \"_version\" = ?2")
        for deletion in change.deletes {
            let statement = deletion.expectedVersion == nil ? any : versioned
            statement.bind(.int(deletion.key), at: 1)
            if let version = deletion.expectedVersion { statement.bind(.int(version), at: 2) }
            try check(statement.run(), change.entity)
            if connection.changes != 1 { throw try missing(change.entity, deletion.key) }
            recorder.delete(change.entity, deletion.key)
        }
    }

    /// Looks at what the history preserves of rows before they are deleted.
    private func remember(_ change: EntityChanges) throws(StorageError) {
        if !recorder.preserves(change.entity) { return }
        let found = RowBatch(capacity: change.deletes.count)
        try rows(change.entity, keys: change.deletes.map(\.key), into: found)
        for index in 0..<found.count { recorder.remember(found.row(index)) }
    }

    /// Sets unique columns to nil where several rows change them, so that their values can change places.
    private func park(_ change: EntityChanges) throws(StorageError) {
        let description = core.tables.schema[change.entity]
        let unique = Set(description.uniqueConstraints.flatMap(\.slots))
        if unique.isEmpty || change.updates.reduce(0, { $0 + $1.rows.count }) < 2 { return }
        for update in change.updates {
            let parked = update.mask.slots.filter(unique.contains)
            if parked.isEmpty { continue }
            let columns = parked.map { "\(SQLText.quoted(core.tables.column(change.entity, $0))) = NULL" }.joined(separator: ", ")
            let statement = try connection.statement(
                "UPDATE \(SQLText.quoted(core.tables.table(change.entity))) SET \(columns) WHERE \"_id\" = ?1")
            try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
                for row in 0..<batch.count {
                    statement.bind(.int(batch.key(row)), at: 1)
                    try check(statement.run(), change.entity)
                }
            }
        }
    }

    private func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let slots = update.mask.slots
        var columns = slots.enumerated().map { "\(SQLText.quoted(core.tables.column(entity, $1))) = ?\($0 + 2)" }
        columns.append("\"_version\" = \"_version\" + 1")
        let condition = update.checksVersion ? " AND \"_version\" = ?\(slots.count + 2)" : ""
        let statement = try connection.statement(
            "UPDATE \(SQLText.quoted(core.tables.table(entity))) SET \(columns.joined(separator: ", ")) WHERE \"_id\" = ?1\(condition)")
        let versionAt = update.checksVersion ? Int32(slots.count + 2) : 0
        try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                statement.bind(.int(row.key), at: 1)
                for (position, slot) in slots.enumerated() { statement.bind(row[slot], at: Int32(truncatingIfNeeded: position &+ 2)) }
                if versionAt > 0 { statement.bind(.int(row.version), at: versionAt) }
                let code = statement.run()
                if code != SQLITE_DONE { try check(code, entity) }
                if sqlite3_changes(connection.handle) != 1 { throw try missing(entity, row.key) }
                recorder.update(entity, row.key, update.mask)
            }
        }
    }

    private func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        try rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            try inserts.insert(entity, batch, 0..<batch.count)
            for index in 0..<batch.count { recorder.insert(entity, batch.key(index)) }
        }
    }

    private func apply(_ changes: LinkChanges) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(link: changes.link))
        let owner = core.tables.schema.links[changes.link].owner
        let remove = try connection.statement("DELETE FROM \(table) WHERE \"owner\" = ?1 AND \"member\" = ?2")
        for pair in changes.removed {
            remove.bind(.int(pair.owner), at: 1)
            remove.bind(.int(pair.member), at: 2)
            try check(remove.run(), owner)
        }
        try write(links: changes.added, table, owner)
        for key in Set(changes.removed.map(\.owner)).union(changes.added.map(\.owner)).sorted() {
            recorder.links(changes.link, owner: owner, key)
        }
    }

    private func write(links pairs: [Link], _ table: String, _ owner: EntityIndex) throws(StorageError) {
        let add = try connection.statement(
            "INSERT INTO \(table)(\"owner\", \"rank\", \"member\") VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET \"rank\" = excluded.\"rank\""
        )
        for pair in pairs {
            add.bind(.int(pair.owner), at: 1)
            add.bind(.int(pair.rank), at: 2)
            add.bind(.int(pair.member), at: 3)
            try check(add.run(), owner)
        }
    }

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try checkOpen()
        beside.rows()
        if bulk == nil { bulk = try SQLiteBulkLoad(core, connection) }
        try bulk?.load(root, batch)
    }

    func load(link: Int, _ pairs: [Link]) throws(StorageError) {
        try checkOpen()
        beside.rows()
        try write(links: pairs, SQLText.quoted(core.tables.table(link: link)), core.tables.schema.links[link].owner)
    }

    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        try checkOpen()
        beside.quietly()
        let text: SQLText =
            if let bytes {
                "INSERT OR REPLACE INTO polystore_notes VALUES(\(bind: .string(name), .string), \(bind: .data(bytes), .data))"
            } else {
                "DELETE FROM polystore_notes WHERE name = \(bind: .string(name), .string)"
            }
        let code = try connection.statement(text).run()
        if code != SQLITE_DONE { throw connection.error(code) }
    }

    func savepoint() throws(StorageError) -> Int {
        try checkOpen()
        try bulk?.makeIndexes()
        try connection.execute("SAVEPOINT s\(savepoints.next)")
        return savepoints.add(recorder.mark())
    }

    func rollback(to savepoint: Int) throws(StorageError) {
        try checkOpen()
        let mark = try savepoints.find(savepoint).state
        try connection.execute("ROLLBACK TO s\(savepoint)")
        bulk?.forget()
        beside.quietly()
        recorder.rewind(to: mark)
        savepoints.rewind(to: savepoint)
    }

    func release(_ savepoint: Int) throws(StorageError) {
        try checkOpen()
        try savepoints.find(savepoint)
        try connection.execute("RELEASE s\(savepoint)")
        savepoints.release(savepoint)
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
        end()
        return token
    }

    func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkHistory()
        beside.quietly()
        try SQLiteHistory(core, connection).purge(through: core.position(token) ?? 0)
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
        let time = record.time ?? Microseconds.from(Date()) ?? 0
        let token = try SQLiteHistory(core, connection).add(
            time, record.author, changes, isFirst: !core.hasResumedHistory.load(ordering: .relaxed))
        entry = { SQLiteCommitMark(position: token.position, time: time, author: record.author, content: changes) }
        return token
    }

    /// Turns the result of a changing statement into an error, a violated constraint with its name.
    private func check(_ code: Int32, _ entity: EntityIndex) throws(StorageError) {
        if code == SQLITE_DONE { return }
        throw SQLiteConstraint.error(code, connection, core.tables, entity)
    }

    private func missing(_ entity: EntityIndex, _ key: Int64) throws(StorageError) -> StorageError {
        let name = core.tables.schema.entities[entity].name
        let layout = core.keyLayout(entity)
        let statement = try connection.statement(layout.sql)
        defer { statement.reset() }
        statement.bind(.int(key), at: 1)
        let details = StorageError.Details(entity: name, keys: [key])
        if try statement.step() {
            return StorageError(.staleObject, "\(name) \(key) was changed by another transaction since it was read", details: details)
        }
        return StorageError(.notFound, "\(name) \(key) is not there any more", details: details)
    }
}
#endif
