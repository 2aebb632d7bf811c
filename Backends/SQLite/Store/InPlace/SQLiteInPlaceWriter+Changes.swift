#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteInPlaceWriter {
    // MARK: Versions

    func versions(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) -> [Int64: Int64] {
        let table = inPlace.tables.tables[entity]
        let statement = try connection.statement(
            "SELECT \(SQLiteInPlace.version(table)) FROM \(table.source) AS t WHERE t.\(SQLText.quoted(table.key)) = ?1")
        defer { statement.reset() }
        var versions: [Int64: Int64] = [:]
        for key in keys {
            statement.bind(.int(key), at: 1)
            if try statement.step() { versions[key] = sqlite3_column_int64(statement.handle, 0) }
            statement.reset()
        }
        return versions
    }

    func set(_ versions: [Int64: Int64], _ entity: EntityIndex) throws(StorageError) {
        let name = inPlace.tables.tables[entity].name
        for (key, version) in versions {
            try connection.run(
                """
                INSERT OR REPLACE INTO main.polystore_versions \
                VALUES(\(bind: .string(name), .string), \(bind: .int(key), .int64), \(bind: .int(version), .int64))
                """)
        }
    }

    // MARK: Rows

    /// Runs a statement for a row, and throws the engine's error as an error of the contract.
    private func run(_ statement: SQLiteStatement, _ entity: EntityIndex, isDeletion: Bool = false) throws(StorageError) {
        let code = statement.run()
        if code != SQLITE_DONE { throw SQLiteInPlaceError(connection, inPlace, isDeletion: isDeletion).error(code, entity) }
    }

    func delete(_ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let table = inPlace.tables.tables[entity]
        let statement = try connection.statement("DELETE FROM \(table.source) WHERE \(SQLText.quoted(table.key)) = ?1")
        for key in keys {
            statement.bind(.int(key), at: 1)
            try run(statement, entity, isDeletion: true)
            let isDone = connection.changes != 0
            if isDone, try !isAnswered(table.name) { continue }
            // A row that no longer exists was deleted together with a row that it refers to.
            if try exists(entity, key) { throw try notDone("the deletion", of: entity, key, isUndone: isDone) }
        }
    }

    private func exists(_ entity: EntityIndex, _ key: Int64) throws(StorageError) -> Bool { try versions(entity, [key])[key] != nil }

    /// Whether a table has triggers of the owner, which may undo a change.
    private func isAnswered(_ table: String) throws(StorageError) -> Bool {
        if let known = answered[table] { return known }
        let isAnswered = try !triggers(table, isUndone: true).isEmpty
        answered[table] = isAnswered
        return isAnswered
    }

    func clear(_ slots: [Int], _ entity: EntityIndex, _ keys: [Int64]) throws(StorageError) {
        let table = inPlace.tables.tables[entity]
        let assignments = slots.map { "\(SQLText.quoted(table.columns[$0].name)) = NULL" }.joined(separator: ", ")
        let statement = try connection.statement("UPDATE \(table.source) SET \(assignments) WHERE \(SQLText.quoted(table.key)) = ?1")
        for key in keys {
            statement.bind(.int(key), at: 1)
            try run(statement, entity)
            try checkUpdated(entity, key)
            try note(slots, entity, key)
        }
    }

    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError) {
        let table = inPlace.tables.tables[entity], key = SQLText.quoted(table.key)
        let slots = update.mask.slots, written = slots.filter { !table.columns[$0].isKey }
        var assignments = written.enumerated().map { inPlace.tables.assignment(entity, $1, "?\($0 + 2)") }
        // The version rises even where no column changes.
        if assignments.isEmpty { assignments = ["\(key) = \(key)"] }
        let statement = try connection.statement(
            "UPDATE \(table.source) AS t SET \(assignments.joined(separator: ", ")) WHERE t.\(key) = ?1")
        try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                for slot in slots where table.columns[slot].isKey { try inPlace.tables.checkKey(entity, slot, row) }
                statement.bind(.int(row.key), at: 1)
                for (place, slot) in written.enumerated() { statement.bind(row[slot], at: Int32(truncatingIfNeeded: place &+ 2)) }
                let before = try isAnswered(table.name) ? differences(entity, written, row) : []
                try run(statement, entity)
                try checkUpdated(entity, row.key)
                try note(slots, entity, row.key)
                if !before.isEmpty { try checkKept(entity, written, row, before) }
            }
        }
    }

    /// Throws if columns that differed from their new values are as before.
    private func checkKept(
        _ entity: EntityIndex, _ slots: [Int], _ row: borrowing RowView, _ before: [Value]
    ) throws(StorageError) {
        let isUndone = zip(before, try differences(entity, slots, row)).contains { !$0.isNull && $0 == $1 }
        if isUndone { throw try notDone("a change", of: entity, row.key, isUndone: true) }
    }

    /// Returns the text of each column that differs from its new value; nil for other columns, nothing for a row that does not exist. A
    /// column that requires a value keeps it if the new one is nil.
    private func differences(_ entity: EntityIndex, _ slots: [Int], _ row: borrowing RowView) throws(StorageError) -> [Value] {
        if slots.isEmpty { return [] }
        let columns = slots.enumerated().map { index, slot in
            let stored = SQLText.quoted(core.tables.column(entity, slot)), new = "?\(index + 2)"
            let isKept = inPlace.tables.tables[entity].columns[slot].isRequired ? " AND \(new) IS NOT NULL" : ""
            return "CASE WHEN \(stored) IS NOT \(new)\(isKept) THEN quote(\(stored)) END"
        }
        let statement = try connection.statement(
            "SELECT \(columns.joined(separator: ", ")) FROM \(SQLText.quoted(core.tables.table(entity))) WHERE \"_id\" = ?1")
        defer { statement.reset() }
        statement.bind(.int(row.key), at: 1)
        for (place, slot) in slots.enumerated() { statement.bind(row[slot], at: Int32(truncatingIfNeeded: place &+ 2)) }
        return try statement.step() ? try statement.values(slots.map { _ in .string }) : []
    }

    private func checkUpdated(_ entity: EntityIndex, _ key: Int64) throws(StorageError) {
        if connection.changes == 1 { return }
        try checkAll(entity, [key], try versions(entity, [key]))
        throw try notDone("a change", of: entity, key)
    }

    private func notDone(
        _ action: String, of entity: EntityIndex, _ key: Int64, isUndone: Bool = false
    ) throws(StorageError) -> StorageError {
        let triggers = try triggers(inPlace.tables.tables[entity].name, isUndone: isUndone)
        return notDone(action, core.tables.schema.entities[entity].name, [key], by: triggers)
    }

    /// Returns the triggers of a table that can leave a row unchanged, or change it back.
    private func triggers(_ table: String, isUndone: Bool = false) throws(StorageError) -> [String] {
        let condition = isUndone ? "name NOT LIKE 'polystore\\_%' ESCAPE '\\'" : "sql LIKE '%RAISE%IGNORE%'"
        let text: SQLText = """
            SELECT name FROM main.sqlite_master WHERE type = 'trigger' AND tbl_name = \(bind: .string(table), .string) COLLATE NOCASE
                AND \(raw: condition) ORDER BY name
            """
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    /// Logs the columns that an update has changed, because the trigger does not know them.
    private func note(_ slots: [Int], _ entity: EntityIndex, _ key: Int64) throws(StorageError) {
        let name = inPlace.tables.tables[entity].name
        try connection.run(
            """
            UPDATE main.polystore_log SET changed = \(bind: .string(columns(slots, entity)), .string) \
            WHERE position = (SELECT seq FROM main.sqlite_sequence WHERE name = 'polystore_log') \
            AND source = \(bind: .string(name), .string) AND "key" = \(bind: .int(key), .int64) AND kind = 'u'
            """)
    }

    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError) {
        try rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for index in 0..<batch.count { try insert(entity, batch.row(index)) }
        }
    }

    private func insert(_ entity: EntityIndex, _ row: borrowing RowView) throws(StorageError) {
        let table = inPlace.tables.tables[entity], statement = try connection.statement(insertion(entity))
        statement.bind(.int(row.key), at: 1)
        var place: Int32 = 2
        for slot in table.columns.indices {
            if table.columns[slot].isKey {
                try inPlace.tables.checkKey(entity, slot, row)
                continue
            }
            statement.bind(row[slot], at: place)
            place &+= 1
        }
        try run(statement, entity)
        if connection.changes != 1 { throw try notDone("the insertion", of: entity, row.key) }
        if try isAnswered(table.name), try !exists(entity, row.key) {
            throw try notDone("the insertion", of: entity, row.key, isUndone: true)
        }
        inserted.insert(entity)
    }

    private func insertion(_ entity: EntityIndex) -> String {
        let table = inPlace.tables.tables[entity], written = table.columns.filter { !$0.isKey }
        let names = [table.key] + written.map(\.name), values = ["?1"] + written.enumerated().map { $1.stored("?\($0 + 2)") }
        return "INSERT INTO \(table.source)(\(names.map(SQLText.quoted).joined(separator: ", "))) VALUES(\(values.joined(separator: ", ")))"
    }

    // MARK: Unique columns

    func holders(_ entity: EntityIndex, _ slots: [Int], _ update: RowUpdate) throws(StorageError) -> Set<Int64> {
        let table = inPlace.tables.tables[entity], key = SQLText.quoted(table.key), written = update.mask.slots.filter(slots.contains)
        let conditions = slots.map { slot in
            let column = table.columns[slot], name = SQLText.quoted(column.name)
            return "t.\(name) = \(written.firstIndex(of: slot).map { column.stored("?\($0 + 2)") } ?? "o.\(name)")"
        }
        let statement = try connection.statement(
            "SELECT t.\(key) FROM \(table.source) AS o JOIN \(table.source) AS t ON \(conditions.joined(separator: " AND ")) "
                + "WHERE o.\(key) = ?1 AND t.\(key) <> ?1")
        defer { statement.reset() }
        var holders: Set<Int64> = []
        try update.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                statement.bind(.int(row.key), at: 1)
                for (place, slot) in written.enumerated() { statement.bind(row[slot], at: Int32(truncatingIfNeeded: place &+ 2)) }
                while try statement.step() { holders.insert(sqlite3_column_int64(statement.handle, 0)) }
                statement.reset()
            }
        }
        return holders
    }

    func followers(_ entity: EntityIndex, _ slot: Int) throws(StorageError) -> [String] {
        let table = inPlace.tables.tables[entity]
        let text: SQLText = """
            SELECT m.name || '.' || f."from" FROM main.sqlite_master AS m JOIN pragma_foreign_key_list(m.name, 'main') AS f
            WHERE m.type = 'table' AND f."table" = \(bind: .string(table.name), .string) COLLATE NOCASE
                AND f."to" = \(bind: .string(table.columns[slot].name), .string) COLLATE NOCASE
                AND f.on_update IN ('CASCADE', 'SET NULL', 'SET DEFAULT') ORDER BY 1
            """
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    // MARK: Pairs

    func remove(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = inPlace.tables.pairs[link]
        let statement = try connection.statement("DELETE FROM \(table.source) WHERE \(Self.isPair(table))")
        for pair in pairs {
            try run(pair, statement, link)
            let isDone = connection.changes != 0
            if isDone, try !isAnswered(table.name) { continue }
            if try isThere(pair, table) { throw try notDone("the removal of a pair", table, pair, isUndone: isDone) }
        }
    }

    func add(_ pairs: [LinkPair], link: Int) throws(StorageError) {
        let table = inPlace.tables.pairs[link]
        let names = [table.owner, table.member].map { SQLText.quoted($0.name) }.joined(separator: ", ")
        let statement = try connection.statement(
            "INSERT INTO \(table.source)(\(names)) SELECT \(table.owner.stored("?1")), \(table.member.stored("?2")) "
                + "WHERE NOT EXISTS (SELECT 1 FROM \(table.source) WHERE \(Self.isPair(table)))")
        for pair in pairs {
            try run(pair, statement, link)
            let isDone = connection.changes != 0
            if isDone, try !isAnswered(table.name) { continue }
            if try !isThere(pair, table) { throw try notDone("the addition of a pair", table, pair, isUndone: isDone) }
        }
    }

    private func isThere(_ pair: LinkPair, _ table: InPlaceTables.Pairs) throws(StorageError) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM \(table.source) WHERE \(Self.isPair(table))")
        defer { statement.reset() }
        statement.bind(.int(pair.owner), at: 1)
        statement.bind(.int(pair.member), at: 2)
        return try statement.step()
    }

    private func notDone(
        _ action: String, _ table: InPlaceTables.Pairs, _ pair: LinkPair, isUndone: Bool
    ) throws(StorageError) -> StorageError {
        notDone(action, table.name, [pair.owner], by: try triggers(table.name, isUndone: isUndone))
    }

    private static func isPair(_ pairs: InPlaceTables.Pairs) -> String {
        "\(SQLText.quoted(pairs.owner.name)) = \(pairs.owner.stored("?1")) AND \(SQLText.quoted(pairs.member.name)) = \(pairs.member.stored("?2"))"
    }

    private func run(_ pair: LinkPair, _ statement: SQLiteStatement, _ link: Int) throws(StorageError) {
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
            // A row with this key may have existed before.
            if try versions(row.entity, [row.key]) != [row.key: row.version] { try set([row.key: row.version], row.entity) }
        }
        try forgetLog(after: mark)
    }

    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) {
        try checkOpen()
        let mark = try lastPosition()
        try add(pairs, link: link)
        try forgetLog(after: mark)
    }

    /// Removes the log entries of a bulk load, which the history does not record.
    private func forgetLog(after position: Int64) throws(StorageError) {
        try connection.run("DELETE FROM main.polystore_log WHERE position > \(bind: .int(position), .int64)")
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

    /// Returns the statement that finds the row with the same values. It uses the table itself where the form of its values is Polystore's
    /// own, so that the table's index applies.
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
