#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter {
    func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        for change in changes.entities { try delete(change) }
        for change in changes.entities { try park(change) }
        for change in changes.entities { for update in change.updates { try self.update(change.entity, update) } }
        for change in changes.entities { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        for change in changes.links { try apply(change) }
        try flush()
    }

    /// Queues a statement; `check` looks at its answer once the queue was run.
    func send(
        _ sql: String, _ parameters: [PostgreSQLParameter], _ check: @escaping (PostgreSQLResult) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) {
        let step = PostgreSQLStep(sql, parameters)
        queue.append((step, check))
        queuedBytes += step.bytes
        if queue.count >= Self.longestQueue || queuedBytes >= PostgreSQLRows.usualBytes { try flush() }
    }

    /// Runs the queue in one round trip.
    func flush() throws(StorageError) {
        let queue = queue
        self.queue.removeAll()
        queuedBytes = 0
        let results = try connection.pipeline(queue.map(\.step))
        for (index, result) in results.enumerated() { try queue[index].check(result) }
    }

    func table(_ entity: EntityIndex) -> String { SQLText.quoted(core.tables.table(entity)) }

    private func delete(_ change: EntityChanges) throws(StorageError) {
        if change.deletes.isEmpty { return }
        let keys = change.deletes.map(\.key)
        try remember(change.entity, keys)
        let versions = change.deletes.map { $0.expectedVersion.map(Cell.int) ?? .null }
        for key in keys { recorder.delete(change.entity, key) }
        try send(
            "DELETE FROM \(table(change.entity)) t USING unnest($1::int8[], $2::int8[]) u(k, v) "
                + "WHERE t.\"_id\" = u.k AND (u.v IS NULL OR t.\"_version\" = u.v)",
            [PostgreSQLParameter(keys: keys), PostgreSQLParameter(array: versions, .int64)],
            { [unowned self] result throws(StorageError) in
                if result.changes != keys.count { throw try missing(change.entity, keys) }
            })
    }

    /// Looks at what the history preserves of rows before they are deleted: the transaction is serializable, so they are those.
    private func remember(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        if !recorder.preserves(entity) { return }
        let found = RowBatch(capacity: keys.count)
        try rows(entity, keys: keys, into: found)
        for index in 0..<found.count { recorder.remember(found.row(index)) }
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
                try send(
                    "UPDATE \(table(change.entity)) SET \(columns) WHERE \"_id\" = ANY($1::int8[])",
                    [PostgreSQLParameter(keys: (0..<batch.count).map(batch.key))])
            }
        }
    }

    private func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let slots = update.mask.slots
        var assignments = slots.enumerated().map { "\(SQLText.quoted(core.tables.column(entity, $1))) = u.c\($0)" }
        assignments.append("\"_version\" = t.\"_version\" + 1")
        let names = ["k", "v"] + slots.indices.map { "c\($0)" }
        let sql =
            "UPDATE \(table(entity)) t SET \(assignments.joined(separator: ", ")) "
            + "FROM \(PostgreSQLRows.unnest(entity, slots, core.tables.schema)) "
            + "u(\(names.joined(separator: ", "))) WHERE t.\"_id\" = u.k" + (update.checksVersion ? " AND t.\"_version\" = u.v" : "")
        try update.rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            let keys = part.keys
            for key in keys { recorder.update(entity, key, update.mask) }
            try send(
                sql, part.parameters(entity, slots, core.tables.schema),
                { [unowned self] result throws(StorageError) in
                    if result.changes != keys.count { throw try missing(entity, keys) }
                })
        }
    }

    /// A few rows go with the other statements in one round trip; many are copied, which takes three but half the time for each row. So are
    /// large ones, which are not held whole then.
    private func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        let description = core.tables.schema[entity], slots = Array(description.slots.indices), areMany = rows.count > Self.fewRows
        var names = ["\"_id\"", "\"_version\""] + slots.map { SQLText.quoted(core.tables.column(entity, $0)) }
        var values = "*"
        if description.isHierarchy {
            names.append("\"_entity\"")
            values += ", \(core.tables.entityNumbers[entity])"
        }
        let table = "\(table(entity))(\(names.joined(separator: ", ")))"
        let sql = "INSERT INTO \(table) SELECT \(values) FROM \(PostgreSQLRows.unnest(entity, slots, core.tables.schema))"
        try rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            for key in part.keys { recorder.insert(entity, key) }
            if !areMany, !part.isLarge { return try send(sql, part.parameters(entity, slots, core.tables.schema)) }
            try flush()
            try copy(entity, part)
        }
        try connection.endCopy()
    }

    /// Hands rows to the copy into the table of a hierarchy.
    func copy(_ entity: EntityIndex, _ rows: PostgreSQLRows) throws(StorageError) {
        let root = core.tables.schema[entity].root
        let encoder = try connection.copy(root) { PostgreSQLCopyEncoder(core.tables, root) }
        for index in rows.range {
            encoder.append(rows.batch.row(index))
            if encoder.buffer.count > 1 << 16 { try connection.send(encoder.buffer) }
        }
    }

    /// Hands the rows of a batch, which may be of several entities, to the copy into the table of their hierarchy.
    func copy(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        var bytes = 0
        for index in 0..<batch.count {
            let row = batch.row(index)
            bytes += try PostgreSQLRows.bytes(row, Array(core.tables.schema[row.entity].slots.indices))
        }
        try copy(root, PostgreSQLRows(batch: batch, range: 0..<batch.count, bytes: bytes))
    }

    private func apply(_ changes: LinkChanges) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(link: changes.link))
        if !changes.removed.isEmpty {
            try send(
                "DELETE FROM \(table) t USING unnest($1::int8[], $2::int8[]) u(o, m) WHERE t.\"owner\" = u.o AND t.\"member\" = u.m",
                [PostgreSQLParameter(keys: changes.removed.map(\.owner)), PostgreSQLParameter(keys: changes.removed.map(\.member))])
        }
        try write(links: changes.added, table)
        let owner = core.tables.schema.links[changes.link].owner
        for key in Set(changes.removed.map(\.owner)).union(changes.added.map(\.owner)).sorted() {
            recorder.links(changes.link, owner: owner, key)
        }
    }

    func write(links pairs: [Link], _ table: String) throws(StorageError) {
        if pairs.isEmpty { return }
        // One statement may not touch a row twice: of equal pairs the last counts.
        var last: [[Int64]: Link] = [:]
        for pair in pairs { last[[pair.owner, pair.member]] = pair }
        let pairs = last.count == pairs.count ? pairs : Array(last.values)
        for start in stride(from: 0, to: pairs.count, by: Self.mostLinks) {
            try write(pairs[start..<min(start + Self.mostLinks, pairs.count)], table)
        }
    }

    private func write(_ pairs: ArraySlice<Link>, _ table: String) throws(StorageError) {
        try send(
            "INSERT INTO \(table)(\"owner\", \"rank\", \"member\") SELECT * FROM unnest($1::int8[], $2::int8[], $3::int8[]) "
                + "ON CONFLICT (\"owner\", \"member\") DO UPDATE SET \"rank\" = excluded.\"rank\"",
            [
                PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.rank)),
                PostgreSQLParameter(keys: pairs.map(\.member)),
            ])
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
