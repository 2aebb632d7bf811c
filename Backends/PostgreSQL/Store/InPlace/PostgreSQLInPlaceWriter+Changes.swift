#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLInPlaceWriter {
    /// Runs a statement, and turns what the server says against it into an error of the contract.
    @discardableResult
    private func change(
        _ sql: String, _ parameters: [PostgreSQLParameter], isDeletion: Bool = false
    ) throws(StorageError) -> PostgreSQLResult {
        try inPlace.rules.explaining(isDeletion: isDeletion) { () throws(StorageError) in try connection.query(sql, parameters) }
    }

    // MARK: Versions

    func versions(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) -> [Int64: Int64] {
        if keys.isEmpty { return [:] }
        let view = SQLText.quoted(core.tables.table(entity))
        let result = try connection.query(
            "SELECT \"_id\"::int8, \"_version\" FROM \(view) WHERE \"_id\" = ANY($1::int8[])", [PostgreSQLParameter(keys: keys)])
        var versions: [Int64: Int64] = [:]
        for row in 0..<result.count { if let key = result.integer(row, 0) { versions[key] = result.integer(row, 1) } }
        return versions
    }

    func set(_ versions: [Int64: Int64], _ entity: EntityIndex) throws(StorageError) {
        let versions = versions.sorted { $0.key < $1.key }
        try change(
            "UPDATE polystore_versions AS v SET version = u.v FROM unnest($1::int8[], $2::int8[]) AS u(k, v) "
                + "WHERE v.source = \(literal(entity)) AND v.key = u.k",
            [PostgreSQLParameter(keys: versions.map(\.key)), PostgreSQLParameter(keys: versions.map(\.value))])
    }

    private func literal(_ entity: EntityIndex) -> String { "'\(SQLText.doubling("'", in: inPlace.tables.tables[entity].name))'" }

    // MARK: Rows

    func delete(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let table = inPlace.tables.tables[entity]
        try change(
            "DELETE FROM \(table.source) AS t WHERE t.\(SQLText.quoted(table.key)) = ANY($1::int8[])", [PostgreSQLParameter(keys: keys)],
            isDeletion: true)
    }

    func clear(_ slots: [Int], _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let table = inPlace.tables.tables[entity]
        let assignments = slots.map { "\(SQLText.quoted(table.columns[$0].name)) = NULL" }.joined(separator: ", ")
        try change(
            "UPDATE \(table.source) AS t SET \(assignments) WHERE t.\(SQLText.quoted(table.key)) = ANY($1::int8[])",
            [PostgreSQLParameter(keys: keys)])
        try note(slots, entity, keys)
    }

    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let table = inPlace.tables.tables[entity], key = SQLText.quoted(table.key)
        let slots = update.mask.slots, written = slots.filter { !table.columns[$0].isKey }
        var assignments = written.enumerated().map { inPlace.tables.assignment(entity, $1, "u.c\($0)") }
        // The version rises also where nothing is written.
        if assignments.isEmpty, let other = table.columns.first(where: { !$0.isKey }).map({ SQLText.quoted($0.name) }) {
            assignments = ["\(other) = t.\(other)"]
        }
        let names = ["k", "v"] + written.indices.map { "c\($0)" }
        let sql =
            "UPDATE \(table.source) AS t SET \(assignments.joined(separator: ", ")) FROM \(PostgreSQLRows.unnest(entity, written, core.tables.schema)) "
            + "AS u(\(names.joined(separator: ", "))) WHERE t.\(key) = u.k"
        try update.rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            try checkKeys(entity, slots, part)
            if assignments.isEmpty { return }
            let keys = part.keys, result = try change(sql, part.parameters(entity, written, core.tables.schema))
            if result.changes != keys.count { try checkAll(entity, keys, try versions(entity, keys)) }
            try note(slots, entity, keys)
        }
    }

    /// Writes down what an update has changed; the trigger knows only that it did.
    private func note(_ slots: [Int], _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        try change(
            "UPDATE polystore_log SET changed = $2::text WHERE position = pg_current_xact_id()::text::int8 "
                + "AND source = \(literal(entity)) AND key = ANY($1::int8[]) AND kind = 'u' AND changed = '\(InPlaceLog.everything)'",
            [PostgreSQLParameter(keys: keys), PostgreSQLParameter(.value(.string(columns(slots, entity)), .string))])
    }

    private func checkKeys(_ entity: EntityIndex, _ slots: [Int], _ rows: PostgreSQLRows) throws(StorageError) {
        for slot in slots where inPlace.tables.tables[entity].columns[slot].isKey {
            for index in rows.range { try inPlace.tables.checkKey(entity, slot, rows.batch.row(index)) }
        }
    }

    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        let table = inPlace.tables.tables[entity], slots = Array(table.columns.indices), written = slots.filter { !table.columns[$0].isKey }
        let names = ([table.key] + written.map { table.columns[$0].name }).map(SQLText.quoted).joined(separator: ", ")
        let values = (["u.k"] + written.enumerated().map { table.columns[$1].stored("u.c\($0)") }).joined(separator: ", ")
        let columns = (["k", "v"] + written.indices.map { "c\($0)" }).joined(separator: ", ")
        let sql =
            "INSERT INTO \(table.target)(\(names)) OVERRIDING SYSTEM VALUE SELECT \(values) "
            + "FROM \(PostgreSQLRows.unnest(entity, written, core.tables.schema)) AS u(\(columns))"
        try rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            try checkKeys(entity, slots, part)
            try change(sql, part.parameters(entity, written, core.tables.schema))
        }
    }

    // MARK: Pairs

    func remove(_ pairs: [Link], link: Int) throws(StorageError) {
        let table = inPlace.tables.pairs[link]
        try change(
            "DELETE FROM \(table.source) AS t USING unnest($1::int8[], $2::int8[]) AS u(o, m) "
                + "WHERE t.\(SQLText.quoted(table.owner.name)) = \(table.owner.stored("u.o")) "
                + "AND t.\(SQLText.quoted(table.member.name)) = \(table.member.stored("u.m"))",
            [PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.member))], isDeletion: true)
    }

    func add(_ pairs: [Link], link: Int) throws(StorageError) {
        let table = inPlace.tables.pairs[link]
        let names = [table.owner, table.member].map { SQLText.quoted($0.name) }.joined(separator: ", ")
        try change(
            "INSERT INTO \(table.target)(\(names)) SELECT \(table.owner.stored("u.o")), \(table.member.stored("u.m")) "
                + "FROM unnest($1::int8[], $2::int8[]) AS u(o, m) ON CONFLICT DO NOTHING",
            [PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.member))])
    }

    // MARK: Upserts

    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try checkOpen()
        let slots = core.tables.schema[upsert.entity].slots.count, wanted = upsert.constraint.slots
        let all = RowBatch(capacity: upsert.rows.count)
        try upsert.rows.forEachBatch(RowBatch(capacity: 512)) { batch throws(StorageError) in
            for index in 0..<batch.count { all.append(copying: batch.row(index), slots: slots) }
        }
        let conditions = wanted.enumerated().map { "t.\(SQLText.quoted(core.tables.column(upsert.entity, $1))) = u.c\($0)" }
        let names = (["k", "v"] + wanted.indices.map { "c\($0)" }).joined(separator: ", ")
        let found = try connection.query(
            "SELECT u.k, t.\"_id\"::int8 FROM \(PostgreSQLRows.unnest(upsert.entity, wanted, core.tables.schema)) AS u(\(names)) "
                + "JOIN \(SQLText.quoted(core.tables.table(upsert.entity))) AS t ON \(conditions.joined(separator: " AND "))",
            PostgreSQLRows(batch: all, range: 0..<all.count, bytes: 0).parameters(upsert.entity, wanted, core.tables.schema))
        var known: [Int64: Int64] = [:]
        for row in 0..<found.count { if let own = found.integer(row, 0) { known[own] = found.integer(row, 1) } }
        let result = (0..<all.count).map { index in
            let key = all.key(index), there = known[key]
            return UpsertedRow(key: there ?? key, entity: upsert.entity, isInserted: there == nil)
        }
        let changes = try upsert.changes(result, core.tables.schema)
        for change in changes.entities {
            for update in change.updates { try self.update(change.entity, update) }
            if let inserts = change.inserts { try insert(change.entity, inserts) }
        }
        return result
    }
}
#endif
