#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

extension PostgreSQLInPlaceWriter {
    /// Runs a statement, and throws the server's error as an error of the contract.
    @discardableResult
    private func change(
        _ sql: String, _ parameters: [PostgreSQLParameter], isDeletion: Bool = false, writing: PostgreSQLInPlaceRules.Written? = nil
    ) throws(StorageError) -> PostgreSQLResult {
        try inPlace.rules.explaining(isDeletion: isDeletion, writing: writing) { () throws(StorageError) in
            try connection.query(sql, parameters)
        }
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
        let rows = "FROM \(table.source) AS t WHERE t.\(SQLText.quoted(table.key)) = ANY($1::int8[])"
        let result = try change("DELETE \(rows)", [PostgreSQLParameter(keys: keys)], isDeletion: true)
        let isDone = result.changes == keys.count
        if isDone, !isAnswered(table.name, .delete) { return }
        // Rows that no longer exist were deleted together with rows that they refer to.
        let kept = try existing(entity, keys)
        if !kept.isEmpty { throw try notDone("the deletion", of: entity, kept, .delete, isUndone: isDone) }
    }

    /// Returns the keys of those rows that exist.
    private func existing(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) -> [Int64] {
        let table = inPlace.tables.tables[entity], key = "t.\(SQLText.quoted(table.key))"
        let found = try connection.query(
            "SELECT \(key)::int8 FROM \(table.source) AS t WHERE \(key) = ANY($1::int8[])", [PostgreSQLParameter(keys: keys)])
        return (0..<found.count).compactMap { found.integer($0, 0) }
    }

    func clear(_ slots: [Int], _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let table = inPlace.tables.tables[entity]
        let assignments = slots.map { "\(SQLText.quoted(table.columns[$0].name)) = NULL" }.joined(separator: ", ")
        let result = try change(
            "UPDATE \(table.source) AS t SET \(assignments) FROM \(noting(slots, entity)) WHERE t.\(SQLText.quoted(table.key)) = ANY($1::int8[])",
            [PostgreSQLParameter(keys: keys)])
        try checkUpdated(result, entity, keys)
    }

    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let table = inPlace.tables.tables[entity], key = SQLText.quoted(table.key)
        let slots = update.mask.slots, written = slots.filter { !table.columns[$0].isKey }
        var assignments = written.enumerated().map { inPlace.tables.assignment(entity, $1, "u.c\($0)") }
        // The version rises even where no column changes.
        if assignments.isEmpty, let other = table.columns.first(where: { !$0.isKey }).map({ SQLText.quoted($0.name) }) {
            assignments = ["\(other) = t.\(other)"]
        }
        let names = ["k", "v"] + written.indices.map { "c\($0)" }
        let sql =
            "UPDATE \(table.source) AS t SET \(assignments.joined(separator: ", ")) FROM \(PostgreSQLRows.unnest(entity, written, core.tables.schema)) "
            + "AS u(\(names.joined(separator: ", "))), \(noting(slots, entity)) WHERE t.\(key) = u.k"
        try update.rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            try checkKeys(entity, slots, part)
            if assignments.isEmpty { return }
            let before = isAnswered(table.name, .update) ? try differences(entity, written, part) : [:]
            try checkUpdated(
                try change(sql, part.parameters(entity, written, core.tables.schema), writing: (entity, written)), entity, part.keys)
            if !before.isEmpty { try checkKept(entity, written, part, before) }
        }
    }

    /// Throws if columns that differed from their new values are as before.
    private func checkKept(
        _ entity: EntityIndex, _ slots: [Int], _ rows: PostgreSQLRows, _ before: [Int64: [String]]
    ) throws(StorageError) {
        let after = try differences(entity, slots, rows)
        let undone = rows.keys.filter { key in
            zip(before[key] ?? [], after[key] ?? []).contains { !$0.isEmpty && $0 == $1 }
        }
        if !undone.isEmpty { throw try notDone("a change", of: entity, undone, .update, isUndone: true) }
    }

    /// Returns a digest of each column that differs from its new value, by key; empty for other columns. A column that requires a value
    /// keeps it if the new one is nil.
    private func differences(_ entity: EntityIndex, _ slots: [Int], _ rows: PostgreSQLRows) throws(StorageError) -> [Int64: [String]] {
        let columns = slots.enumerated().map { index, slot in
            let stored = "t.\(SQLText.quoted(core.tables.column(entity, slot)))"
            let isKept = inPlace.tables.tables[entity].columns[slot].isRequired ? " AND u.c\(index) IS NOT NULL" : ""
            return "CASE WHEN \(stored) IS DISTINCT FROM u.c\(index)\(isKept) THEN coalesce(md5(\(stored)::text), '-') ELSE '' END"
        }
        if columns.isEmpty { return [:] }
        let names = ["k", "v"] + slots.indices.map { "c\($0)" }
        let found = try connection.query(
            "SELECT u.k, concat_ws(',', \(columns.joined(separator: ", "))) "
                + "FROM \(PostgreSQLRows.unnest(entity, slots, core.tables.schema)) AS u(\(names.joined(separator: ", "))) "
                + "JOIN \(SQLText.quoted(core.tables.table(entity))) AS t ON t.\"_id\" = u.k",
            rows.parameters(entity, slots, core.tables.schema))
        var differences: [Int64: [String]] = [:]
        for row in try found.rows([.int64, .string]) {
            differences[row[0].number] = row[1].text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        return differences
    }

    private func checkUpdated(_ result: PostgreSQLResult, _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        if result.changes == keys.count { return }
        try checkAll(entity, keys, try versions(entity, keys))
        throw try notDone("a change", of: entity, keys, .update)
    }

    /// Returns the part of a statement that declares the columns that it changes, because the trigger cannot know them.
    private func noting(_ slots: [Int], _ entity: EntityIndex) -> String {
        let changed = PostgreSQLInPlaceTriggers.changed(inPlace.tables.tables[entity].name, columns(slots, entity))
        return "set_config('\(PostgreSQLInPlaceTriggers.changed)', \(changed), true) AS polystore_changed"
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
            + "FROM \(PostgreSQLRows.unnest(entity, written, core.tables.schema)) AS u(\(columns)) RETURNING \(SQLText.quoted(table.key))::int8"
        try rows.forEachPart(rowBatch, slots) { part throws(StorageError) in
            try checkKeys(entity, slots, part)
            let result = try change(sql, part.parameters(entity, written, core.tables.schema), writing: (entity, written))
            // A trigger of the owner may skip a row or assign another key.
            let made = Set((0..<result.count).compactMap { result.integer($0, 0) }), missing = part.keys.filter { !made.contains($0) }
            if !missing.isEmpty { throw try notDone("the insertion", of: entity, missing, .insert) }
            if isAnswered(table.name, .insert) { try checkInserted(entity, part.keys) }
        }
    }

    private func checkInserted(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let there = Set(try existing(entity, keys)), gone = keys.filter { !there.contains($0) }
        if !gone.isEmpty { throw try notDone("the insertion", of: entity, gone, .insert, isUndone: true) }
    }

    // MARK: What is not done

    /// Whether the table has triggers of the owner that may undo a change.
    private func isAnswered(_ table: String, _ event: PostgreSQLInPlaceEvent) -> Bool {
        inPlace.answers.withLock { $0.contains(table, event) }
    }

    private func notDone(
        _ action: String, of entity: EntityIndex, _ keys: [Int64], _ event: PostgreSQLInPlaceEvent, isUndone: Bool = false
    ) throws(StorageError) -> StorageError {
        let triggers = try triggers(inPlace.tables.tables[entity].target, event, isUndone)
        return notDone(action, core.tables.schema.entities[entity].name, keys, by: triggers)
    }

    /// Returns the triggers and rules of a table that can leave a row unchanged, or change it back.
    private func triggers(_ table: String, _ event: PostgreSQLInPlaceEvent, _ isUndone: Bool) throws(StorageError) -> [String] {
        let name: SQLText = "\(bind: .string(table), .string)::regclass"
        let time = !isUndone ? "AND tgtype & 2 = 2" : event == .update ? "" : "AND tgtype & 2 = 0"
        let text: SQLText = """
            SELECT tgname::text FROM pg_trigger WHERE tgrelid = \(name) AND NOT tgisinternal AND tgenabled <> 'D' \(raw: time)
                AND tgtype & \(raw: String(event.rawValue)) <> 0 AND tgname NOT LIKE 'polystore\\_%'
            UNION SELECT rulename::text FROM pg_rewrite WHERE ev_class = \(name) AND ev_type = '\(raw: String(event.rule))' ORDER BY 1
            """
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    // MARK: Unique columns

    func holders(_ entity: EntityIndex, _ slots: [Int], _ update: RowUpdate) throws(StorageError) -> Set<Int64> {
        let table = inPlace.tables.tables[entity], key = SQLText.quoted(table.key), written = update.mask.slots.filter(slots.contains)
        let conditions = slots.map { slot in
            let column = table.columns[slot], name = SQLText.quoted(column.name)
            return "t.\(name) = \(written.firstIndex(of: slot).map { column.stored("u.c\($0)") } ?? "o.\(name)")"
        }
        let names = ["k", "v"] + written.indices.map { "c\($0)" }
        let sql =
            "SELECT DISTINCT t.\(key)::int8 FROM \(PostgreSQLRows.unnest(entity, written, core.tables.schema)) AS u(\(names.joined(separator: ", "))) "
            + "JOIN \(table.source) AS o ON o.\(key) = u.k JOIN \(table.source) AS t ON \(conditions.joined(separator: " AND ")) "
            + "WHERE t.\(key) <> o.\(key)"
        var holders: Set<Int64> = []
        try update.rows.forEachPart(rowBatch, written) { part throws(StorageError) in
            let result = try connection.query(sql, part.parameters(entity, written, core.tables.schema))
            holders.formUnion((0..<result.count).compactMap { result.integer($0, 0) })
        }
        return holders
    }

    func followers(_ entity: EntityIndex, _ slot: Int) throws(StorageError) -> [String] {
        let table = inPlace.tables.tables[entity], name: SQLText = "\(bind: .string(table.target), .string)::regclass"
        let text: SQLText = """
            SELECT c.relname || '.' || (SELECT string_agg(a.attname, ', ' ORDER BY a.attnum) FROM pg_attribute a
                WHERE a.attrelid = r.conrelid AND a.attnum = ANY(r.conkey))
            FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid
            JOIN pg_attribute f ON f.attrelid = r.confrelid AND f.attname = \(bind: .string(table.columns[slot].name), .string)
            WHERE r.contype = 'f' AND r.confrelid = \(name) AND f.attnum = ANY(r.confkey) AND r.confupdtype IN ('c', 'n', 'd') ORDER BY 1
            """
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    // MARK: Pairs

    func remove(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = inPlace.tables.pairs[link]
        let result = try change(
            "DELETE FROM \(table.source) AS t USING \(Self.pairs) WHERE \(Self.isPair(table))", Self.parameters(pairs), isDeletion: true)
        let isDone = result.changes >= pairs.count
        if isDone, !isAnswered(table.name, .delete) { return }
        let kept = try connection.query(
            "SELECT u.o FROM \(Self.pairs) WHERE EXISTS (SELECT 1 FROM \(table.source) AS t WHERE \(Self.isPair(table)))",
            Self.parameters(pairs))
        if kept.count > 0 { throw try notDone("the removal of a pair", link, kept, .delete, isUndone: isDone) }
    }

    func add(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = inPlace.tables.pairs[link]
        let names = [table.owner, table.member].map { SQLText.quoted($0.name) }.joined(separator: ", ")
        let result = try change(
            "INSERT INTO \(table.target)(\(names)) SELECT \(table.owner.stored("u.o")), \(table.member.stored("u.m")) "
                + "FROM \(Self.pairs) ON CONFLICT DO NOTHING", Self.parameters(pairs))
        let isDone = result.changes == pairs.count
        if isDone, !isAnswered(table.name, .insert) { return }
        // Pairs that already exist are not added again.
        let missing = try connection.query(
            "SELECT u.o FROM \(Self.pairs) WHERE NOT EXISTS (SELECT 1 FROM \(table.source) AS t WHERE \(Self.isPair(table)))",
            Self.parameters(pairs))
        if missing.count > 0 { throw try notDone("the addition of a pair", link, missing, .insert, isUndone: isDone) }
    }

    private static let pairs = "unnest($1::int8[], $2::int8[]) AS u(o, m)"

    private static func parameters(_ pairs: [LinkPair]) -> [PostgreSQLParameter] {
        [PostgreSQLParameter(keys: pairs.map(\.owner)), PostgreSQLParameter(keys: pairs.map(\.member))]
    }

    private static func isPair(_ table: InPlaceTables.Pairs) -> String {
        "t.\(SQLText.quoted(table.owner.name)) = \(table.owner.stored("u.o")) AND "
            + "t.\(SQLText.quoted(table.member.name)) = \(table.member.stored("u.m"))"
    }

    private func notDone(
        _ action: String, _ link: Int, _ owners: PostgreSQLResult, _ event: PostgreSQLInPlaceEvent, isUndone: Bool
    ) throws(StorageError) -> StorageError {
        let table = inPlace.tables.pairs[link], keys = (0..<owners.count).compactMap { owners.integer($0, 0) }
        return notDone(action, table.name, keys, by: try triggers(table.target, event, isUndone))
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
