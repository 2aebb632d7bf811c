#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter {
    /// Adds a statement to the queue. `check` receives its result after the queue has run.
    func send(
        _ sql: String, _ parameters: [PostgreSQLParameter], writing entity: EntityIndex? = nil,
        _ check: @escaping (PostgreSQLResult) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) {
        let step = PostgreSQLStep(sql, parameters)
        queue.append((step, entity, check))
        queuedBytes += step.bytes
        if queue.count >= Self.longestQueue || queuedBytes >= PostgreSQLRows.usualBytes { try flush() }
    }

    /// Runs the queued statements in one round trip.
    func flush() throws(StorageError) {
        let queue = queue
        self.queue.removeAll()
        queuedBytes = 0
        let (results, refusal) = try connection.answers(queue.map(\.step))
        let failure = refusal.map { explained($0, queue.indices.contains(results.count) ? queue[results.count].entity : nil) }
        do throws(StorageError) {
            for (index, result) in results.enumerated() { try queue[index].check(result) }
        } catch {
            // A conflict is the reason for the failure of a later statement, after which no other check can ask the server.
            throw error.code == .staleObject || error.code == .notFound ? error : failure ?? error
        }
        if let failure { throw failure }
    }

    /// Returns the error of a conflict after which the transaction is run again, if a reserved key was chosen by a statement of another
    /// program: the server does not know which keys are reserved.
    ///
    /// Otherwise returns one that names the entity and the property of a value that a column does not accept. The types of the store accept
    /// every value, so such a column was changed by hand.
    private func explained(_ error: StorageError, _ entity: EntityIndex?) -> StorageError {
        if error.code == .alreadyExists, let root = entity.map({ core.tables.schema[$0].root }) {
            core.overtake(root)
            if !reserved.contains(root) { return error }
            let name = core.tables.schema.entities[root].name
            return StorageError(
                .serializationFailure, "a statement of another program has chosen a key that was reserved for a new object of \(name)",
                details: .init(entity: name), cause: error.cause)
        }
        guard let cause = error.cause as? PostgreSQLError.Cause, PostgreSQLRefusal.states.contains(cause.state) else { return error }
        let tables = core.tables, copied = cause.table.flatMap { name in tables.schema.roots.first { tables.table($0) == name } }
        guard let entity = entity ?? copied else { return error }
        let names = cause.column.map { [$0] } ?? cause.refusedType.map { core.columns(of: tables.table(entity), type: $0) } ?? []
        let description = tables.schema[entity], slots = description.slots.indices.filter { names.contains(tables.column(entity, $0)) }
        let places = slots.isEmpty ? [description.name] : slots.map { "\(description.name).\(description.slots[$0].name)" }
        return StorageError(
            .valueNotStorable,
            "\(places.joined(separator: " or ")): the column on the server does not accept the value"
                + "\(cause.refusedType.map { " (\($0))" } ?? ""), because its type was changed by hand",
            details: .init(entity: description.name, property: slots.count == 1 ? description.slots[slots[0]].name : nil), cause: cause)
    }

    /// Compares versions in the round trip of the changes.
    func compareVersions(_ entity: EntityIndex, _ expected: [Int64: Int64]) throws(StorageError) {
        try send(
            "SELECT \"_id\", \"_version\" FROM \(table(entity)) WHERE \"_id\" = ANY($1::int8[])",
            [PostgreSQLParameter(keys: expected.keys.sorted())],
            { [unowned self] result throws(StorageError) in
                let stored = (0..<result.count).map { (result.integer($0, 0) ?? 0, result.integer($0, 1) ?? 0) }
                try compare(stored, expected, entity)
            })
    }

    func table(_ entity: EntityIndex) -> String { SQLText.quoted(core.tables.table(entity)) }

    func delete(_ entity: EntityIndex, _ deletions: [RowDeletion]) throws(StorageError) {
        let keys = deletions.map(\.key), versions = deletions.map { $0.expectedVersion.map(Cell.int) ?? .null }
        for key in keys { recorder.delete(entity, key) }
        try send(
            "DELETE FROM \(table(entity)) t USING unnest($1::int8[], $2::int8[]) u(k, v) "
                + "WHERE t.\"_id\" = u.k AND (u.v IS NULL OR t.\"_version\" = u.v)",
            [PostgreSQLParameter(keys: keys), PostgreSQLParameter(array: versions, .int64)],
            { [unowned self] result throws(StorageError) in
                if result.changes != keys.count {
                    throw try missing(entity, zip(keys, deletions.map(\.expectedVersion)).map { ($0, $1) }, isDeletion: true)
                }
            })
    }

    func clear(_ slots: [Int], _ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        let columns = slots.map { "\(SQLText.quoted(core.tables.column(entity, $0))) = NULL" }.joined(separator: ", ")
        try rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            try send(
                "UPDATE \(table(entity)) SET \(columns) WHERE \"_id\" = ANY($1::int8[])",
                [PostgreSQLParameter(keys: (0..<batch.count).map(batch.key))])
        }
    }

    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let slots = update.mask.slots
        var assignments = slots.enumerated().map { "\(SQLText.quoted(core.tables.column(entity, $1))) = u.c\($0)" }
        assignments.append("\"_version\" = t.\"_version\" + 1")
        let names = ["k", "v"] + slots.indices.map { "c\($0)" }
        let sql =
            "UPDATE \(table(entity)) t SET \(assignments.joined(separator: ", ")) "
            + "FROM \(PostgreSQLRows.unnest(entity, slots, core.tables.schema)) "
            + "u(\(names.joined(separator: ", "))) WHERE t.\"_id\" = u.k" + (update.checksVersion ? " AND t.\"_version\" = u.v" : "")
        try update.rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            let keys = part.keys, versions = part.range.map { update.checksVersion ? part.batch.row($0).version : nil }
            for key in keys { recorder.update(entity, key, update.mask) }
            try send(
                sql, part.parameters(entity, slots, core.tables.schema), writing: entity,
                { [unowned self] result throws(StorageError) in
                    if result.changes != keys.count { throw try missing(entity, zip(keys, versions).map { ($0, $1) }) }
                })
        }
    }

    /// Inserts rows. A few rows are sent with the other statements in one round trip. Many rows are copied, which takes three round trips
    /// but half the time for each row. Large rows are also copied, because a copy does not keep them in memory as a whole.
    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
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
            let keys = part.keys
            for key in keys { recorder.insert(entity, key) }
            if !areMany, !part.isLarge {
                return try send(
                    sql, part.parameters(entity, slots, core.tables.schema), writing: entity,
                    { [unowned self] result throws(StorageError) in if result.changes < keys.count { try checkInserted(entity, keys) } })
            }
            // A flush ends the copy, and the server would wait for the next one.
            if !queue.isEmpty { try flush() }
            try copy(entity, part)
        }
        do throws(StorageError) { try connection.endCopy() } catch { throw explained(error, entity) }
    }

    /// Throws if rows that an insertion has not counted are not there. A trigger can have put them in another table, such as a partition.
    private func checkInserted(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let there = try connection.present(keys, in: table(entity))
        if let gone = keys.first(where: { !there.contains($0) }) { throw .ignored(entity, core.tables.schema, key: gone) }
    }

    /// Adds rows to the copy into the table of a hierarchy.
    func copy(_ entity: EntityIndex, _ rows: PostgreSQLRows) throws(StorageError) {
        let root = core.tables.schema[entity].root
        let encoder = try connection.copy(root) { PostgreSQLCopyEncoder(core.tables, root) }
        for index in rows.range {
            encoder.append(rows.batch.row(index))
            if encoder.buffer.count > 1 << 16 { try connection.send(encoder.buffer) }
        }
        if encoder.keys.count < PostgreSQLConnection.mostCopiedRows { return }
        do throws(StorageError) { try connection.endCopy() } catch { throw explained(error, entity) }
    }

    /// Adds the rows of a batch, which may belong to several entities, to the copy into the table of their hierarchy.
    func copy(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        var bytes = 0
        for index in 0..<batch.count {
            let row = batch.row(index)
            bytes += try PostgreSQLRows.bytes(row, Array(core.tables.schema[row.entity].slots.indices))
        }
        try copy(root, PostgreSQLRows(batch: batch, range: 0..<batch.count, bytes: bytes))
    }

    func remove(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = SQLText.quoted(core.tables.table(link: link)), owner = core.tables.schema.links[link].owner
        let parameters = [PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.member))]
        let condition = "unnest($1::int8[], $2::int8[]) u(o, m) WHERE t.\"owner\" = u.o AND t.\"member\" = u.m"
        try send("DELETE FROM \(table) t USING \(condition)", parameters)
        // A pair that another transaction has removed is no error, and one that is still there was kept by a trigger. In the same round trip,
        // because a later statement may add a pair again.
        try send("SELECT count(*) FROM \(table) t, \(condition)", parameters) { [unowned self] result throws(StorageError) in
            if result.integer(0, 0) != 0 { throw .ignored(owner, core.tables.schema) }
        }
    }

    func add(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        if pairs.isEmpty { return }
        let table = SQLText.quoted(core.tables.table(link: link))
        // A statement may not change a row twice, so the last one of several equal pairs is kept.
        var last: [[Int64]: LinkPair] = [:]
        for pair in pairs { last[[pair.owner, pair.member]] = pair }
        let pairs = last.count == pairs.count ? pairs : Array(last.values)
        for start in stride(from: 0, to: pairs.count, by: Self.mostLinks) {
            try write(pairs[start..<min(start + Self.mostLinks, pairs.count)], table, core.tables.schema.links[link].owner)
        }
    }

    private func write(_ pairs: ArraySlice<LinkPair>, _ table: String, _ owner: EntityIndex) throws(StorageError) {
        let unnest = "unnest($1::int8[], $2::int8[], $3::int8[])", number = pairs.count
        let parameters = [
            PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.rank)),
            PostgreSQLParameter(keys: pairs.map(\.member)),
        ]
        try send(
            "INSERT INTO \(table)(\"owner\", \"rank\", \"member\") SELECT * FROM \(unnest) "
                + "ON CONFLICT (\"owner\", \"member\") DO UPDATE SET \"rank\" = excluded.\"rank\"", parameters,
            { [unowned self] result throws(StorageError) in
                if result.changes >= number { return }
                // A trigger can also have put a pair in another table, such as a partition.
                let there = try connection.query(
                    "SELECT count(*) FROM \(table) t, \(unnest) u(o, r, m) WHERE t.\"owner\" = u.o AND t.\"member\" = u.m AND t.\"rank\" = u.r",
                    parameters)
                if Int(there.integer(0, 0) ?? 0) < number { throw .ignored(owner, core.tables.schema) }
            })
    }

    /// Returns the error for rows that a statement has not all changed.
    ///
    /// - Parameters:
    ///   - expected: The keys of the rows, with the versions that the statement required; nil for any.
    ///   - isDeletion: Whether the rows that it has changed are gone.
    private func missing(
        _ entity: EntityIndex, _ expected: [(key: Int64, version: Int64?)], isDeletion: Bool = false
    ) throws(StorageError) -> StorageError {
        let name = core.tables.schema.entities[entity].name
        let result = try connection.query(
            "SELECT \"_id\", \"_version\" FROM \(table(entity)) WHERE \"_id\" = ANY($1::int8[])",
            [PostgreSQLParameter(keys: expected.map(\.key))])
        var stored: [Int64: Int64] = [:]
        for row in 0..<result.count { if let key = result.integer(row, 0) { stored[key] = result.integer(row, 1) } }
        let gone = expected.map(\.key).filter { stored[$0] == nil }
        if let first = gone.first, !isDeletion || stored.isEmpty {
            return StorageError(.notFound, "\(name) \(first) no longer exists", details: .init(entity: name, keys: gone))
        }
        // Rows that the statement has changed have the next version.
        let others = expected.filter { row in stored[row.key].map { $0 != row.version && row.version != nil } ?? false }
        let stale = isDeletion ? others : others.filter { stored[$0.key] != ($0.version ?? 0) + 1 }
        let ignored = expected.first { stored[$0.key] != nil && ($0.version == nil || stored[$0.key] == $0.version) }
        if stale.isEmpty, let ignored {
            let isKnown = isDeletion || ignored.version != nil || expected.count == 1
            return .ignored(entity, core.tables.schema, key: isKnown ? ignored.key : 0)
        }
        let keys = (stale.isEmpty ? others : stale).map(\.key)
        return StorageError(
            .staleObject, "an object of \(name) was changed by another transaction since it was read",
            details: .init(entity: name, keys: keys.isEmpty ? expected.map(\.key) : keys))
    }
}
#endif
