#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteInPlaceWriter {
    /// The versions that rows had before something else than their own change touched them.
    private typealias Versions = [EntityIndex: [Int64: Int64]]

    /// Pairs are removed first and added last, what refers is deleted before what it refers to: the engine has rules of its own about
    /// references, some of which it checks at once.
    func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        let parts = inPlace.tables.order.compactMap { entity in changes.entities.first { $0.entity == entity } }
        let hasDeletes = parts.contains { !$0.deletes.isEmpty }
        var before: Versions = [:]
        for change in parts { try check(change, &before, keeps: hasDeletes || parks(change)) }
        for change in changes.links { try remove(change) }
        for change in parts.reversed() { try delete(change) }
        for change in parts where parks(change) { try park(change) }
        try settle(before)
        for change in parts { for update in change.updates { try self.update(change.entity, update) } }
        for change in parts { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        for change in changes.links { try add(change.added, change.link) }
    }

    // MARK: Versions

    private func version(_ entity: EntityIndex, _ key: Int64) throws(StorageError) -> Int64? {
        let table = inPlace.tables.tables[entity]
        let statement = try connection.statement(
            "SELECT \(SQLiteInPlace.version(table)) FROM \(table.source) AS t WHERE t.\(SQLText.quoted(table.key)) = ?1")
        defer { statement.reset() }
        statement.bind(.int(key), at: 1)
        return try statement.step() ? sqlite3_column_int64(statement.handle, 0) : nil
    }

    /// Looks at all versions before anything is changed: what the engine deletes or clears by itself counts as a change too.
    private func check(_ change: EntityChanges, _ before: inout Versions, keeps: Bool) throws(StorageError) {
        for deletion in change.deletes { try check(change.entity, deletion.key, deletion.expectedVersion) }
        for update in change.updates where update.checksVersion || keeps {
            try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
                for index in 0..<batch.count {
                    let row = batch.row(index), expected = update.checksVersion ? row.version : nil
                    let version = try check(change.entity, row.key, expected)
                    if keeps { before[change.entity, default: [:]][row.key] = version }
                }
            }
        }
    }

    @discardableResult
    private func check(_ entity: EntityIndex, _ key: Int64, _ expected: Int64?) throws(StorageError) -> Int64 {
        guard let version = try version(entity, key) else { throw gone(entity, key) }
        if let expected, expected != version {
            let name = core.tables.schema.entities[entity].name
            throw StorageError(
                .staleObject, "\(name) \(key) was changed by another transaction since it was read",
                details: .init(entity: name, keys: [key]))
        }
        return version
    }

    private func gone(_ entity: EntityIndex, _ key: Int64) -> StorageError {
        let name = core.tables.schema.entities[entity].name
        return StorageError(.notFound, "\(name) \(key) is not there any more", details: .init(entity: name, keys: [key]))
    }

    /// Takes the versions of rows back that the deletion of others has raised: their own change raises them once.
    private func settle(_ before: Versions) throws(StorageError) {
        for (entity, versions) in before.sorted(by: { $0.key < $1.key }) {
            for (key, version) in versions { if try self.version(entity, key) != version { try set(version, entity, key) } }
        }
    }

    private func set(_ version: Int64, _ entity: EntityIndex, _ key: Int64) throws(StorageError) {
        let name = inPlace.tables.tables[entity].name
        try run(
            """
            INSERT OR REPLACE INTO main.polystore_versions \
            VALUES(\(bind: .string(name), .string), \(bind: .int(key), .int64), \(bind: .int(version), .int64))
            """)
    }

    // MARK: Rows

    /// Runs a statement for a row, and turns what the engine says against it into an error of the contract.
    private func run(_ statement: SQLiteStatement, _ entity: EntityIndex, isDeletion: Bool = false) throws(StorageError) {
        let code = statement.run()
        if code != SQLITE_DONE { throw SQLiteInPlaceError(connection, inPlace, isDeletion: isDeletion).error(code, entity) }
    }

    private func delete(_ change: EntityChanges) throws(StorageError) {
        if change.deletes.isEmpty { return }
        let table = inPlace.tables.tables[change.entity]
        let statement = try connection.statement("DELETE FROM \(table.source) WHERE \(SQLText.quoted(table.key)) = ?1")
        for deletion in change.deletes {
            statement.bind(.int(deletion.key), at: 1)
            // All were there: one that is gone was deleted by the engine together with what it refers to.
            try run(statement, change.entity, isDeletion: true)
        }
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
            let statement = try connection.statement(
                "UPDATE \(table.source) SET \(assignments) WHERE \(SQLText.quoted(table.key)) = ?1")
            try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
                for index in 0..<batch.count {
                    statement.bind(.int(batch.key(index)), at: 1)
                    try run(statement, change.entity)
                    try note(slots, change.entity, batch.key(index))
                }
            }
        }
    }

    private func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let table = inPlace.tables.tables[entity], key = SQLText.quoted(table.key)
        let slots = update.mask.slots, written = slots.filter { !table.columns[$0].isKey }
        var assignments = written.enumerated().map { inPlace.tables.assignment(entity, $1, "?\($0 + 2)") }
        // The version rises also where nothing is written.
        if assignments.isEmpty { assignments = ["\(key) = \(key)"] }
        let statement = try connection.statement(
            "UPDATE \(table.source) AS t SET \(assignments.joined(separator: ", ")) WHERE t.\(key) = ?1")
        try update.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                for slot in slots where table.columns[slot].isKey { try checkKey(entity, slot, row) }
                statement.bind(.int(row.key), at: 1)
                for (place, slot) in written.enumerated() { statement.bind(row[slot], at: Int32(truncatingIfNeeded: place &+ 2)) }
                try run(statement, entity)
                if sqlite3_changes(connection.handle) != 1 { throw gone(entity, row.key) }
                try note(slots, entity, row.key)
            }
        }
    }

    /// Writes down what an update has changed; the trigger knows only that it did.
    private func note(_ slots: [Int], _ entity: EntityIndex, _ key: Int64) throws(StorageError) {
        let table = inPlace.tables.tables[entity]
        let changed = slots.map { table.columns[$0].name }.joined(separator: String(SQLiteInPlaceSetup.separator))
        try run(
            """
            UPDATE main.polystore_log SET changed = \(bind: .string(changed), .string) \
            WHERE position = (SELECT seq FROM main.sqlite_sequence WHERE name = 'polystore_log') \
            AND source = \(bind: .string(table.name), .string) AND "key" = \(bind: .int(key), .int64) AND kind = 'u'
            """)
    }

    /// A reference that is the primary key says nothing that the key does not say.
    private func checkKey(_ entity: EntityIndex, _ slot: Int, _ row: borrowing RowView) throws(StorageError) {
        if row[slot].kind == .int, row[slot].int == row.key { return }
        throw .keyIsReference(core.tables.schema[entity], slot)
    }

    private func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        try rows.forEachBatch(scratchRows) { batch throws(StorageError) in
            for index in 0..<batch.count { try insert(entity, batch.row(index)) }
        }
    }

    private func insert(_ entity: EntityIndex, _ row: borrowing RowView) throws(StorageError) {
        let table = inPlace.tables.tables[entity], statement = try connection.statement(insertion(entity))
        statement.bind(.int(row.key), at: 1)
        var place: Int32 = 2
        for slot in table.columns.indices {
            if table.columns[slot].isKey {
                try checkKey(entity, slot, row)
                continue
            }
            statement.bind(row[slot], at: place)
            place &+= 1
        }
        try run(statement, entity)
        inserted.insert(entity)
    }

    private func insertion(_ entity: EntityIndex) -> String {
        let table = inPlace.tables.tables[entity], written = table.columns.filter { !$0.isKey }
        let names = [table.key] + written.map(\.name), values = ["?1"] + written.enumerated().map { $1.stored("?\($0 + 2)") }
        return "INSERT INTO \(table.source)(\(names.map(SQLText.quoted).joined(separator: ", "))) VALUES(\(values.joined(separator: ", ")))"
    }

    // MARK: Pairs

    private func remove(_ change: LinkChanges) throws(StorageError) {
        let pairs = inPlace.tables.pairs[change.link]
        let statement = try connection.statement("DELETE FROM \(pairs.source) WHERE \(Self.isPair(pairs))")
        for pair in change.removed { try run(pair, statement, change.link) }
    }

    private func add(_ added: [Link], _ link: Int) throws(StorageError) {
        let pairs = inPlace.tables.pairs[link]
        let names = [pairs.owner, pairs.member].map { SQLText.quoted($0.name) }.joined(separator: ", ")
        let statement = try connection.statement(
            "INSERT INTO \(pairs.source)(\(names)) SELECT \(pairs.owner.stored("?1")), \(pairs.member.stored("?2")) "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(pairs.source) WHERE \(Self.isPair(pairs)))")
        for pair in added { try run(pair, statement, link) }
    }

    private static func isPair(_ pairs: InPlaceTables.Pairs) -> String {
        "\(SQLText.quoted(pairs.owner.name)) = \(pairs.owner.stored("?1")) AND \(SQLText.quoted(pairs.member.name)) = \(pairs.member.stored("?2"))"
    }

    private func run(_ pair: Link, _ statement: SQLiteStatement, _ link: Int) throws(StorageError) {
        statement.bind(.int(pair.owner), at: 1)
        statement.bind(.int(pair.member), at: 2)
        try run(statement, core.tables.schema.links[link].owner)
    }

    // MARK: Many rows

    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) {
        try checkOpen()
        let mark = try lastPosition()
        for index in 0..<batch.count {
            let row = batch.row(index)
            try insert(row.entity, row)
            // A row with this key may have been there before.
            if try version(row.entity, row.key) != row.version { try set(row.version, row.entity, row.key) }
        }
        try forgetLog(after: mark)
    }

    func load(link: Int, _ pairs: [Link]) throws(StorageError) {
        try checkOpen()
        let mark = try lastPosition()
        try add(pairs, link)
        try forgetLog(after: mark)
    }

    /// A bulk load leaves nothing in the history.
    private func forgetLog(after position: Int64) throws(StorageError) {
        try run("DELETE FROM main.polystore_log WHERE position > \(bind: .int(position), .int64)")
    }

    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try checkOpen()
        let slots = core.tables.schema[upsert.entity].slots.count, found = try finding(upsert)
        var result: [UpsertedRow] = []
        try upsert.rows.forEachBatch(RowBatch(capacity: 500)) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                for (place, slot) in upsert.constraint.slots.enumerated() { found.bind(row[slot], at: Int32(place + 1)) }
                let known = try found.step() ? sqlite3_column_int64(found.handle, 0) : nil
                found.reset()
                if let known {
                    let one = RowSource(count: 1) { _, target in
                        let cells = target.appendRow(key: known, version: 1, entity: upsert.entity, slots: slots)
                        for slot in 0..<slots { cells[slot] = batch.row(index)[slot] }
                    }
                    try update(upsert.entity, RowUpdate(mask: upsert.update, checksVersion: false, rows: one))
                } else {
                    try insert(upsert.entity, row)
                }
                result.append(UpsertedRow(key: known ?? row.key, entity: upsert.entity, isInserted: known == nil))
            }
        }
        return result
    }

    /// The statement that finds the row with the same values: by the table where its form of them is ours, so that its index serves.
    private func finding(_ upsert: RowUpsert) throws(StorageError) -> SQLiteStatement {
        let table = inPlace.tables.tables[upsert.entity], slots = upsert.constraint.slots
        let isPlain = slots.allSatisfy { table.columns[$0].isPlain }
        let names = slots.map { isPlain ? table.columns[$0].name : core.tables.column(upsert.entity, $0) }
        let condition = names.enumerated().map { "\(SQLText.quoted($1)) = ?\($0 + 1)" }.joined(separator: " AND ")
        let source = isPlain ? table.source : SQLText.quoted(core.tables.table(upsert.entity))
        return try connection.statement("SELECT \(SQLText.quoted(isPlain ? table.key : "_id")) FROM \(source) WHERE \(condition)")
    }
}
#endif
