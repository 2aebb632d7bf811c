#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLInPlaceWriter {
    /// The versions that rows had before something else than their own change touched them.
    private typealias Versions = [EntityIndex: [Int64: Int64]]

    /// The server checks references with each statement: what refers is deleted before what it refers to and added behind it.
    func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        let parts = inPlace.tables.order.compactMap { entity in changes.entities.first { $0.entity == entity } }
        let hasDeletes = parts.contains { !$0.deletes.isEmpty }, hasInserts = parts.contains { $0.inserts != nil }
        var before: Versions = [:]
        for change in parts { try check(change, &before, keeps: hasDeletes || parks(change)) }
        try inPlace.rules.explaining(isDeletion: true) { () throws(StorageError) in
            for change in changes.links { try remove(change) }
            for change in parts.reversed() { try delete(change) }
        }
        try inPlace.rules.explaining { () throws(StorageError) in
            for change in parts where parks(change) { try park(change) }
            try settle(before)
            // What refers to a new object waits for it.
            for change in parts {
                for update in change.updates where !hasInserts || !refers(change.entity, update.mask) {
                    try self.update(change.entity, update)
                }
            }
            for change in parts { if let inserts = change.inserts { try insert(change.entity, inserts) } }
            for change in parts {
                for update in change.updates where hasInserts && refers(change.entity, update.mask) {
                    try self.update(change.entity, update)
                }
            }
            for change in changes.links { try add(change.added, change.link) }
        }
    }

    private func refers(_ entity: EntityIndex, _ mask: SlotMask) -> Bool {
        mask.slots.contains { core.tables.schema[entity].slots[$0].destination != nil }
    }

    // MARK: Versions

    /// The versions of the rows that are there.
    private func versions(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) -> [Int64: Int64] {
        if keys.isEmpty { return [:] }
        let view = SQLText.quoted(core.tables.table(entity))
        let result = try connection.query(
            "SELECT \"_id\"::int8, \"_version\" FROM \(view) WHERE \"_id\" = ANY($1::int8[])", [PostgreSQLParameter(keys: keys)])
        var versions: [Int64: Int64] = [:]
        for row in 0..<result.count { if let key = result.integer(row, 0) { versions[key] = result.integer(row, 1) } }
        return versions
    }

    /// Looks at all versions before anything is changed: what the server deletes or clears by itself counts as a change too.
    private func check(_ change: EntityChanges, _ before: inout Versions, keeps: Bool) throws(StorageError) {
        let pairs = change.deletes.compactMap { deletion in deletion.expectedVersion.map { (deletion.key, $0) } }
        let expected = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        try check(change.entity, change.deletes.map(\.key), expected)
        for update in change.updates where update.checksVersion || keeps {
            try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                let keys = (0..<batch.count).map(batch.key)
                var expected: [Int64: Int64] = [:]
                if update.checksVersion { for index in 0..<batch.count { expected[batch.key(index)] = batch.row(index).version } }
                let versions = try check(change.entity, keys, expected)
                if keeps { before[change.entity, default: [:]].merge(versions) { first, _ in first } }
            }
        }
    }

    @discardableResult
    private func check(_ entity: EntityIndex, _ keys: [Int64], _ expected: [Int64: Int64]) throws(StorageError) -> [Int64: Int64] {
        let versions = try versions(entity, keys), name = core.tables.schema.entities[entity].name
        try checkAll(entity, keys, count: versions.count) { versions[$0] != nil }
        let stale = keys.filter { expected[$0] != nil && expected[$0] != versions[$0] }
        if stale.isEmpty { return versions }
        throw StorageError(
            .staleObject, "an object of \(name) was changed by another transaction since it was read",
            details: .init(entity: name, keys: stale))
    }

    /// - Throws: `notFound` where fewer rows were met than there are keys.
    private func checkAll(_ entity: EntityIndex, _ keys: [Int64], count: Int, isThere: (Int64) -> Bool) throws(StorageError) {
        if count == keys.count { return }
        let name = core.tables.schema.entities[entity].name, gone = keys.filter { !isThere($0) }
        throw StorageError(
            .notFound, "\(name) \(gone.first.map(String.init) ?? "") is not there any more", details: .init(entity: name, keys: gone))
    }

    /// Takes the versions of rows back that the deletion of others has raised: their own change raises them once.
    private func settle(_ before: Versions) throws(StorageError) {
        for (entity, versions) in before.sorted(by: { $0.key < $1.key }) {
            let now = try self.versions(entity, Array(versions.keys))
            let raised = versions.filter { now[$0.key] != $0.value }.sorted { $0.key < $1.key }
            if raised.isEmpty { continue }
            _ = try connection.query(
                "UPDATE polystore_versions AS v SET version = u.v FROM unnest($1::int8[], $2::int8[]) AS u(k, v) "
                    + "WHERE v.source = \(literal(entity)) AND v.key = u.k",
                [PostgreSQLParameter(keys: raised.map(\.key)), PostgreSQLParameter(keys: raised.map(\.value))])
        }
    }

    private func literal(_ entity: EntityIndex) -> String { "'\(SQLText.doubling("'", in: inPlace.tables.tables[entity].name))'" }

    // MARK: Rows

    private func delete(_ change: EntityChanges) throws(StorageError) {
        if change.deletes.isEmpty { return }
        let table = inPlace.tables.tables[change.entity]
        // All were there: one that is gone was deleted by the server together with what it refers to.
        _ = try connection.query(
            "DELETE FROM \(table.source) AS t WHERE t.\(SQLText.quoted(table.key)) = ANY($1::int8[])",
            [PostgreSQLParameter(keys: change.deletes.map(\.key))])
    }

    /// Whether several rows change unique columns, so that their values could change places.
    private func parks(_ change: EntityChanges) -> Bool {
        change.updates.reduce(0) { $0 + $1.rows.count } > 1 && change.updates.contains { !parked(change.entity, $0.mask).isEmpty }
    }

    private func parked(_ entity: EntityIndex, _ mask: SlotMask) -> [Int] {
        let unique = Set(core.tables.schema[entity].uniqueConstraints.flatMap(\.slots)), table = inPlace.tables.tables[entity]
        return mask.slots.filter { unique.contains($0) && !table.columns[$0].isRequired }
    }

    private func park(_ change: EntityChanges) throws(StorageError) {
        let table = inPlace.tables.tables[change.entity]
        for update in change.updates {
            let slots = parked(change.entity, update.mask)
            if slots.isEmpty { continue }
            let assignments = slots.map { "\(SQLText.quoted(table.columns[$0].name)) = NULL" }.joined(separator: ", ")
            try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
                let keys = (0..<batch.count).map(batch.key)
                _ = try connection.query(
                    "UPDATE \(table.source) AS t SET \(assignments) WHERE t.\(SQLText.quoted(table.key)) = ANY($1::int8[])",
                    [PostgreSQLParameter(keys: keys)])
                try note(slots, change.entity, keys)
            }
        }
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
            let keys = part.keys, result = try connection.query(sql, part.parameters(entity, written, core.tables.schema))
            if result.changes != keys.count {
                let there = try versions(entity, keys)
                try checkAll(entity, keys, count: there.count) { there[$0] != nil }
            }
            try note(slots, entity, keys)
        }
    }

    /// Writes down what an update has changed; the trigger knows only that it did.
    private func note(_ slots: [Int], _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let changed = slots.map { inPlace.tables.tables[entity].columns[$0].name }
        let text = changed.joined(separator: String(PostgreSQLInPlaceSetup.separator))
        _ = try connection.query(
            "UPDATE polystore_log SET changed = $2::text WHERE position = pg_current_xact_id()::text::int8 "
                + "AND source = \(literal(entity)) AND key = ANY($1::int8[]) AND kind = 'u' AND changed = '\(PostgreSQLInPlaceSetup.everything)'",
            [PostgreSQLParameter(keys: keys), PostgreSQLParameter(.value(.string(text), .string))])
    }

    /// A reference that is the primary key says nothing that the key does not say.
    private func checkKeys(_ entity: EntityIndex, _ slots: [Int], _ rows: PostgreSQLRows) throws(StorageError) {
        for slot in slots where inPlace.tables.tables[entity].columns[slot].isKey {
            for index in rows.range {
                let row = rows.batch.row(index)
                if row[slot].kind != .int || row[slot].int != row.key { throw .keyIsReference(core.tables.schema[entity], slot) }
            }
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
            _ = try connection.query(sql, part.parameters(entity, written, core.tables.schema))
        }
    }

    // MARK: Pairs

    private func remove(_ change: LinkChanges) throws(StorageError) {
        if change.removed.isEmpty { return }
        let pairs = inPlace.tables.pairs[change.link]
        _ = try connection.query(
            "DELETE FROM \(pairs.source) AS t USING unnest($1::int8[], $2::int8[]) AS u(o, m) "
                + "WHERE t.\(SQLText.quoted(pairs.owner.name)) = \(pairs.owner.stored("u.o")) "
                + "AND t.\(SQLText.quoted(pairs.member.name)) = \(pairs.member.stored("u.m"))",
            [PostgreSQLParameter(keys: change.removed.map(\.owner)), PostgreSQLParameter(keys: change.removed.map(\.member))])
    }

    private func add(_ added: [Link], _ link: Int) throws(StorageError) {
        if added.isEmpty { return }
        let pairs = inPlace.tables.pairs[link]
        let names = [pairs.owner, pairs.member].map { SQLText.quoted($0.name) }.joined(separator: ", ")
        _ = try connection.query(
            "INSERT INTO \(pairs.target)(\(names)) SELECT \(pairs.owner.stored("u.o")), \(pairs.member.stored("u.m")) "
                + "FROM unnest($1::int8[], $2::int8[]) AS u(o, m) ON CONFLICT DO NOTHING",
            [PostgreSQLParameter(keys: added.map(\.owner)), PostgreSQLParameter(keys: added.map(\.member))])
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
        try inPlace.rules.explaining { () throws(StorageError) in
            for change in changes.entities {
                for update in change.updates { try self.update(change.entity, update) }
                if let inserts = change.inserts { try insert(change.entity, inserts) }
            }
        }
        return result
    }
}
#endif
