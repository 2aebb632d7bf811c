#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The write transaction.
final class PostgreSQLWriter: PostgreSQLReader, StorageWriter {
    private let isExclusive: Bool
    private var recorder = HistoryRecorder()
    private var marks: [(id: Int, mark: HistoryRecorder.Mark)] = []
    private var nextMark = 1
    private var dropped: [SQLTables.IndexStatement] = []
    private var prepared: Set<EntityIndex> = []
    private var greatest: [EntityIndex: Int64] = [:]
    private let rowBatch = RowBatch(capacity: 4096)

    init(_ core: PostgreSQLCore, _ connection: PostgreSQLConnection, isExclusive: Bool) {
        self.isExclusive = isExclusive
        super.init(core, connection)
    }

    // The base class would give back when the properties of this one are gone.
    deinit { end() }

    override func giveBack() {
        try? connection.execute("ROLLBACK")
        unlock()
    }

    private func unlock() {
        let function = isExclusive ? "pg_advisory_unlock" : "pg_advisory_unlock_shared"
        try? connection.execute("SELECT \(function)(\(core.lock))")
        core.writers.give(connection)
    }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try checkOpen()
        let root = core.tables.schema[entity].root
        let known = core.keys.withLock { keys -> Range<Int64>? in
            guard let block = keys[root], !block.isEmpty else { return nil }
            let end = min(block.upperBound, block.lowerBound + Int64(count))
            keys[root] = end..<block.upperBound
            return block.lowerBound..<end
        }
        if let known { return known }
        let result = try connection.query("SELECT nextval('\(core.sequence(root))')", [])
        guard let first = result.integer(0, 0) else { throw StorageError(.corrupted, "the key counter is missing") }
        let end = min(first + PostgreSQLSetup.keyBlock, first + Int64(count))
        core.keys.withLock { $0[root] = end..<(first + PostgreSQLSetup.keyBlock) }
        return first..<end
    }

    func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        for change in changes.entities { try delete(change) }
        for change in changes.entities { try park(change) }
        for change in changes.entities { for update in change.updates { try self.update(change.entity, update) } }
        for change in changes.entities { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        for change in changes.links { try apply(change) }
    }

    private func table(_ entity: EntityIndex) -> String { SQLText.quoted(core.tables.table(entity)) }

    private func delete(_ change: EntityChanges) throws(StorageError) {
        if change.deletes.isEmpty { return }
        let keys = change.deletes.map(\.key)
        let versions = change.deletes.map { $0.expectedVersion.map(Cell.int) ?? .null }
        let result = try connection.query(
            "DELETE FROM \(table(change.entity)) t USING unnest($1::int8[], $2::int8[]) u(k, v) "
                + "WHERE t.\"_id\" = u.k AND (u.v IS NULL OR t.\"_version\" = u.v)",
            [PostgreSQLParameter(keys: keys), PostgreSQLParameter(array: versions, .int64)])
        if result.changes != keys.count { throw try missing(change.entity, keys) }
        for key in keys { recorder.delete(change.entity, key) }
    }

    /// Sets unique columns to nil where several rows change them, so that their values can change places.
    private func park(_ change: EntityChanges) throws(StorageError) {
        let unique = Set(core.tables.schema[change.entity].uniqueConstraints.flatMap(\.slots))
        if unique.isEmpty || change.updates.reduce(0, { $0 + $1.rows.count }) < 2 { return }
        for update in change.updates {
            let parked = update.mask.slots.filter(unique.contains)
            if parked.isEmpty { continue }
            let columns = parked.map { "\(SQLText.quoted(core.tables.column(change.entity, $0))) = NULL" }.joined(separator: ", ")
            try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                let keys = (0..<batch.count).map(batch.key)
                _ = try connection.query(
                    "UPDATE \(table(change.entity)) SET \(columns) WHERE \"_id\" = ANY($1::int8[])", [PostgreSQLParameter(keys: keys)])
            }
        }
    }

    private func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let slots = update.mask.slots, description = core.tables.schema[entity]
        var assignments = slots.enumerated().map { "\(SQLText.quoted(core.tables.column(entity, $1))) = u.c\($0)" }
        assignments.append("\"_version\" = t.\"_version\" + 1")
        let arrays =
            ["$1::int8[]", "$2::int8[]"] + slots.enumerated().map { "$\($0 + 3)::\(SQLDialect.castName(description.slots[$1].type))[]" }
        let names = ["k", "v"] + slots.indices.map { "c\($0)" }
        let sql =
            "UPDATE \(table(entity)) t SET \(assignments.joined(separator: ", ")) FROM unnest(\(arrays.joined(separator: ", "))) "
            + "u(\(names.joined(separator: ", "))) WHERE t.\"_id\" = u.k" + (update.checksVersion ? " AND t.\"_version\" = u.v" : "")
        try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            let keys = (0..<batch.count).map(batch.key)
            var parameters = [
                PostgreSQLParameter(keys: keys), PostgreSQLParameter(keys: (0..<batch.count).map { batch.row($0).version }),
            ]
            for slot in slots {
                parameters.append(
                    PostgreSQLParameter(array: (0..<batch.count).map { batch.row($0)[slot] }, description.slots[slot].type))
            }
            let result = try connection.query(sql, parameters)
            if result.changes != batch.count { throw try missing(entity, keys) }
            for key in keys { recorder.update(entity, key, update.mask) }
        }
    }

    private func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        try copy(entity) { encoder throws(StorageError) in
            try rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                for index in 0..<batch.count {
                    let row = batch.row(index)
                    encoder.append(row)
                    recorder.insert(entity, row.key)
                    if encoder.buffer.count > 1 << 16 { try connection.send(encoder.buffer) }
                }
            }
        }
    }

    private func copy(_ entity: EntityIndex, _ body: (PostgreSQLCopyEncoder) throws(StorageError) -> Void) throws(StorageError) {
        let encoder = PostgreSQLCopyEncoder(core.tables, entity)
        try connection.copyIn(encoder.sql) { () throws(StorageError) in
            try body(encoder)
            encoder.finish()
            try connection.send(encoder.buffer)
        }
    }

    private func apply(_ changes: LinkChanges) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(link: changes.link))
        if !changes.removed.isEmpty {
            _ = try connection.query(
                "DELETE FROM \(table) t USING unnest($1::int8[], $2::int8[]) u(o, m) WHERE t.\"owner\" = u.o AND t.\"member\" = u.m",
                [PostgreSQLParameter(keys: changes.removed.map(\.owner)), PostgreSQLParameter(keys: changes.removed.map(\.member))])
        }
        try write(links: changes.added, table)
        let owner = core.tables.schema.links[changes.link].owner
        for key in Set(changes.removed.map(\.owner)).union(changes.added.map(\.owner)).sorted() {
            recorder.links(changes.link, owner: owner, key)
        }
    }

    private func write(links pairs: [Link], _ table: String) throws(StorageError) {
        if pairs.isEmpty { return }
        // One statement may not touch a row twice: of equal pairs the last counts.
        var last: [[Int64]: Link] = [:]
        for pair in pairs { last[[pair.owner, pair.member]] = pair }
        let pairs = last.count == pairs.count ? pairs : Array(last.values)
        _ = try connection.query(
            "INSERT INTO \(table)(\"owner\", \"rank\", \"member\") SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[]) "
                + "ON CONFLICT (\"owner\", \"member\") DO UPDATE SET \"rank\" = excluded.\"rank\"",
            [
                PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.rank)),
                PostgreSQLParameter(keys: pairs.map(\.member)),
            ])
    }

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try checkOpen()
        let root = core.tables.schema[root].root
        try prepareBulk(root)
        var start = 0
        while start < batch.count {
            let entity = batch.row(start).entity
            var end = start + 1
            while end < batch.count, batch.row(end).entity == entity { end += 1 }
            let run = start..<end
            try copy(entity) { encoder throws(StorageError) in
                for index in run {
                    encoder.append(batch.row(index))
                    if encoder.buffer.count > 1 << 16 { try connection.send(encoder.buffer) }
                }
            }
            for index in run { greatest[root] = max(greatest[root] ?? 0, batch.key(index)) }
            start = end
        }
    }

    /// Indexes of a table that is empty are made after the rows: one sort instead of a search for each row.
    private func prepareBulk(_ root: EntityIndex) throws(StorageError) {
        guard prepared.insert(root).inserted else { return }
        let rows = try connection.query("SELECT 1::int8 FROM \(table(root)) LIMIT 1", [])
        if rows.count > 0 { return }
        for index in core.tables.indexes() where index.root == root {
            try connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
            dropped.append(index)
        }
    }

    func load(link: Int, _ pairs: [Link]) throws(StorageError) {
        try checkOpen()
        try write(links: pairs, SQLText.quoted(core.tables.table(link: link)))
    }

    func savepoint() throws(StorageError) -> Int {
        try checkOpen()
        let id = nextMark
        nextMark += 1
        try connection.execute("SAVEPOINT s\(id)")
        marks.append((id, recorder.mark()))
        return id
    }

    func rollback(to savepoint: Int) throws(StorageError) {
        try checkOpen()
        let index = try position(savepoint)
        try connection.execute("ROLLBACK TO SAVEPOINT s\(savepoint)")
        recorder.rewind(to: marks[index].mark)
        marks.removeLast(marks.count - index - 1)
    }

    func release(_ savepoint: Int) throws(StorageError) {
        try checkOpen()
        let index = try position(savepoint)
        try connection.execute("RELEASE SAVEPOINT s\(savepoint)")
        marks.removeLast(marks.count - index)
    }

    private func position(_ savepoint: Int) throws(StorageError) -> Int {
        guard let index = marks.firstIndex(where: { $0.id == savepoint }) else {
            throw StorageError(.notFound, "the savepoint was released or rolled back")
        }
        return index
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        try checkOpen()
        for index in dropped { try connection.execute(index.creation) }
        dropped.removeAll()
        for (root, key) in greatest { try raiseKeys(root, above: key) }
        let token = try writeHistory(record)
        if core.durability == .relaxed { try connection.execute("SET LOCAL synchronous_commit = off") }
        do throws(StorageError) {
            try connection.execute("COMMIT")
        } catch {
            // The server may have committed before the connection broke.
            if error.code == .connectionLost || connection.isLost {
                finish()
                unlock()
                throw StorageError(
                    .commitOutcomeUnknown, "the connection was lost during COMMIT; whether it happened can be asked with the token",
                    cause: error)
            }
            throw error
        }
        finish()
        unlock()
        return token
    }

    private func raiseKeys(_ root: EntityIndex, above key: Int64) throws(StorageError) {
        let sequence = core.sequence(root)
        _ = try connection.query(
            "SELECT setval('\(sequence)', GREATEST($1::int8, (SELECT CASE WHEN is_called THEN last_value + \(PostgreSQLSetup.keyBlock) "
                + "ELSE last_value END FROM \(sequence))), false)", [PostgreSQLParameter(key + 1)])
        core.keys.withLock { keys in if let block = keys[root], block.lowerBound <= key { keys[root] = nil } }
    }

    private func writeHistory(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        if recorder.isEmpty { return nil }
        let batch = RowBatch(capacity: 1)
        let time = record.time ?? Microseconds.from(Date()) ?? 0
        let result = try connection.query(
            "INSERT INTO polystore_history VALUES(pg_current_xact_id()::text::int8, $1::int8, $2::text, $3::bytea) RETURNING position",
            [
                PostgreSQLParameter(time), PostgreSQLParameter(batch.cell(for: .string(record.author)), .string),
                PostgreSQLParameter(batch.cell(for: .data(Data(recorder.encode()))), .data),
            ])
        return result.integer(0, 0).map { HistoryToken(store: core.storeID, position: $0) }
    }

    private func missing(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) -> StorageError {
        let name = core.tables.schema.entities[entity].name
        let found = RowBatch(capacity: keys.count)
        try rows(entity, keys: keys, into: found)
        let there = Set((0..<found.count).map(found.key))
        let gone = keys.filter { !there.contains($0) }
        if let first = gone.first {
            return StorageError(.notFound, "\(name) \(first) is not there any more", details: .init(entity: name, keys: gone))
        }
        return StorageError(
            .staleObject, "an object of \(name) was changed by another transaction since it was read",
            details: .init(entity: name, keys: keys))
    }
}
#endif
