#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteReader {
    func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows {
        try checkOpen()
        let statement = try connection.rawStatement(RawStatement(query: sql, core.tables), core.tables)
        defer { statement.reset() }
        if sqlite3_stmt_readonly(statement.handle) == 0 {
            throw StorageError(
                .readOnly, "the statement changes rows, which a query cannot do; use execute or executeReturning in a write transaction")
        }
        return try statement.rawRows(core.tables)
    }
}

extension SQLiteWriter {
    func execute(_ sql: RawSQL) throws(StorageError) -> Int {
        beside.quietly()
        let changes = try change(sql, andThen: raiseKeys)
        if changes > 0 { beside.rows() }
        return changes
    }

    func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows {
        beside.quietly()
        let rows = try changeReturning(sql, andThen: raiseKeys)
        if !rows.rows.isEmpty { beside.rows() }
        return rows
    }

    /// Raises the key counters above the keys that a statement of the program has chosen.
    private func raiseKeys(after statement: RawStatement) throws(StorageError) {
        let roots = core.tables.schema.roots, tables = Set(statement.tablesWithChosenKeys(roots.map { core.tables.table($0) }))
        for root in roots where tables.contains(core.tables.table(root)) {
            let greatest =
                "SELECT max(\"_id\") FROM \(SQLText.quoted(core.tables.table(root))) WHERE \"_id\" <= \(RawStatement.greatestFollowedKey)"
            if let key = try connection.integer(greatest), key > 0 { try raiseKeys(root, above: key) }
        }
    }
}

extension SQLiteReader {
    /// Runs a statement of the program that changes rows, in a write transaction.
    ///
    /// - Parameter end: A part of the statement that is done after it: if it fails, the statement has no effect.
    final func change(
        _ sql: RawSQL, andThen end: (RawStatement) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> Int {
        try changing(sql, end) { statement throws(StorageError) in
            while try statement.rawStep(core.tables) {}
            return connection.changes
        }
    }

    /// Runs a statement of the program that changes rows, in a write transaction, and returns those of its RETURNING clause.
    ///
    /// - Parameter end: A part of the statement that is done after it: if it fails, the statement has no effect.
    final func changeReturning(
        _ sql: RawSQL, andThen end: (RawStatement) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> RawRows {
        try changing(sql, end) { statement throws(StorageError) in
            if sqlite3_column_count(statement.handle) == 0 { throw .returnsNoRows }
            return try statement.rawRows(core.tables)
        }
    }

    private func changing<Answer>(
        _ sql: RawSQL, _ end: (RawStatement) throws(StorageError) -> Void, _ work: (SQLiteStatement) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try checkOpen()
        let raw = try RawStatement(change: sql, core.tables)
        // A statement with `OR FAIL` would keep the rows before the one that failed.
        try connection.execute("SAVEPOINT polystore_raw")
        do throws(StorageError) {
            let changes = try run(raw, work)
            try end(raw)
            try connection.execute("RELEASE polystore_raw")
            return changes
        } catch {
            // A statement with `OR ROLLBACK`, which reports no failure of the engine.
            connection.fail(
                StorageError(.storeClosed, "the statement rolled the whole transaction back; nothing was written", cause: error))
            try connection.checkTransaction()
            try connection.execute("ROLLBACK TO polystore_raw; RELEASE polystore_raw")
            throw error
        }
    }

    private func run<Answer>(
        _ raw: RawStatement, _ work: (SQLiteStatement) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        let statement = try connection.rawStatement(raw, core.tables)
        defer { statement.reset() }
        if sqlite3_stmt_readonly(statement.handle) != 0 {
            throw StorageError(.invalidPredicate, "the statement changes no rows; use queryRows")
        }
        return try work(statement)
    }
}

extension SQLiteConnection {
    /// The actions that statements of the program may perform. All others would end transactions, change settings or access other files.
    private static let allowed: Set<Int32> = [
        SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE,
    ]

    /// The decimal columns that a statement of the program reads.
    private final class DecimalReads {
        /// The columns of each table.
        let columns: [String: Set<String>]
        var names: Set<String> = []

        init(_ tables: SQLTables) {
            var columns: [String: Set<String>] = [:]
            for entity in tables.schema.descriptions {
                for (slot, description) in entity.slots.enumerated() where description.type == .decimal {
                    columns[tables.table(entity.index), default: []].insert(tables.column(entity.index, slot))
                }
            }
            self.columns = columns
        }

        func add(_ table: String, _ column: String) { if columns[table]?.contains(column) == true { names.insert(column) } }
    }

    /// Prepares a statement of the program and binds its values. The statement is not cached.
    func rawStatement(_ raw: RawStatement, _ tables: SQLTables) throws(StorageError) -> SQLiteStatement {
        let reads = DecimalReads(tables)
        let statement = try withExtendedLifetime(reads) { () throws(StorageError) in try rawStatement(raw, reads) }
        if RawDecimals.areExact(in: raw, reads.names) { return statement }
        let names = reads.names.sorted().joined(separator: ", ")
        throw StorageError(
            .unsupported,
            "SQLite stores decimals (\(names)) as bytes that sort and compare as the numbers do: a statement can read them, order and "
                + "group by them, count them, use min and max, and compare them with each other and with interpolated decimals; for sums "
                + "and other computations use select, which is exact")
    }

    /// Makes the table functions of JSON known. The engine declares each at its first use, by a statement that the authorizer of the
    /// program's statements would refuse.
    private func declareTableFunctions(of raw: RawStatement) {
        if hasTableFunctions || !raw.sql.lowercased().contains("json_") { return }
        hasTableFunctions = true
        for name in ["json_each", "json_tree"] {
            var statement: OpaquePointer?
            _ = sqlite3_prepare_v3(handle, "SELECT 1 FROM \(name)('[]')", -1, 0, &statement, nil)
            sqlite3_finalize(statement)
        }
    }

    private func rawStatement(_ raw: RawStatement, _ reads: DecimalReads) throws(StorageError) -> SQLiteStatement {
        declareTableFunctions(of: raw)
        sqlite3_set_authorizer(
            handle,
            { context, action, object, column, _, trigger in
                if action == SQLITE_READ, let context, let object, let column {
                    Unmanaged<DecimalReads>.fromOpaque(context).takeUnretainedValue().add(String(cString: object), String(cString: column))
                }
                guard SQLiteConnection.allowed.contains(action) else { return SQLITE_DENY }
                // The owner of the table created the trigger.
                if trigger != nil { return SQLITE_OK }
                let changes = action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE
                let name = object.map { String(cString: $0).lowercased() } ?? ""
                return changes && (name.hasPrefix("polystore_") || name.hasPrefix("sqlite_")) ? SQLITE_DENY : SQLITE_OK
            }, Unmanaged.passUnretained(reads).toOpaque())
        defer { sqlite3_set_authorizer(handle, nil, nil) }
        guard let prepared = try prepareOnly(raw) else { throw StorageError(.invalidPredicate, "the SQL contains no statement") }
        let statement = SQLiteStatement(prepared, of: raw.sql, self)
        guard Int(sqlite3_bind_parameter_count(prepared)) == raw.bindings.count else {
            throw StorageError(.invalidPredicate, "the SQL contains placeholders; interpolate the values instead")
        }
        try statement.bind(raw.bindings)
        return statement
    }

    /// Prepares the only statement of a text, or returns nil where there is none.
    private func prepareOnly(_ raw: RawStatement) throws(StorageError) -> OpaquePointer? {
        var found: OpaquePointer?, failure: StorageError?
        raw.sql.withCString { text in
            var rest: UnsafePointer<CChar>? = text
            while let start = rest, start.pointee != 0, failure == nil {
                var next: OpaquePointer?
                let code = sqlite3_prepare_v3(handle, start, -1, 0, &next, &rest)
                if code != SQLITE_OK { failure = SQLiteRawError.prepare(code, self, raw, start - text) }
                // White space and comments are not statements.
                guard let next else { continue }
                if found == nil {
                    found = next
                } else {
                    sqlite3_finalize(next)
                    failure = StorageError(.invalidPredicate, "the SQL contains several statements; run each one separately")
                }
            }
        }
        guard let failure else { return found }
        sqlite3_finalize(found)
        throw failure
    }
}

extension SQLiteStatement {
    /// Moves to the next row of a statement of the program. Returns false at the end.
    fileprivate func rawStep(_ tables: SQLTables) throws(StorageError) -> Bool {
        let code = advance()
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw SQLiteRawError.step(code, connection, tables)
    }

    /// Returns the rows of a statement of the program.
    fileprivate func rawRows(_ tables: SQLTables) throws(StorageError) -> RawRows {
        let columns = 0..<sqlite3_column_count(handle)
        var rows: [[Value]] = []
        while try rawStep(tables) {
            var row: [Value] = []
            for column in columns { row.append(try rawValue(column)) }
            rows.append(row)
        }
        return RawRows(names: columns.map { sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? "" }, rows: rows)
    }

    /// Returns a value of the current row in the engine's type.
    fileprivate func rawValue(_ column: Int32) throws(StorageError) -> Value {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .int(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .double(sqlite3_column_double(handle, column))
        case SQLITE_BLOB: return .data(Data(SQLiteCells.cell(handle, column, .blob).bytes))
        case SQLITE_NULL: return .null
        default:
            guard let text = String(utf8: SQLiteCells.cell(handle, column, .text).bytes) else {
                throw StorageError(
                    .corrupted, "a value in the database is not valid UTF-8 or not valid for its type; restore the database from a backup")
            }
            return .string(text)
        }
    }
}

/// A translation of the engine's errors for statements of the program.
private enum SQLiteRawError {
    /// SQLITE_CONSTRAINT_UNIQUE, _PRIMARYKEY, _ROWID: macros with shifts, which Swift does not import (https://sqlite.org/rescode.html).
    private static let unique: Set<Int32> = [2067, 1555, 2579]

    /// Returns the error for a statement that cannot be prepared. The engine's message refers only to the text, which contains no values.
    static func prepare(_ code: Int32, _ connection: SQLiteConnection, _ raw: RawStatement, _ start: Int) -> StorageError {
        let error = connection.error(code)
        let offset = Int(sqlite3_error_offset(connection.handle))
        // The engine reports an offset in bytes.
        let place = raw.place(offset < 0 ? nil : String(decoding: raw.sql.utf8.prefix(start + offset), as: UTF8.self).unicodeScalars.count)
        switch code & 0xff {
        case SQLITE_ERROR:
            return StorageError(
                .invalidPredicate, "SQLite rejected the SQL: \(String(cString: sqlite3_errmsg(connection.handle)))\(place)",
                cause: error.cause)
        case SQLITE_AUTH:
            return StorageError(
                .invalidPredicate,
                "the SQL does more than read and change rows of the model: transactions, settings, tables and internal data of the store "
                    + "cannot be accessed", cause: error.cause)
        default: return error
        }
    }

    /// Returns the error for a statement that failed while it ran.
    static func step(_ code: Int32, _ connection: SQLiteConnection, _ tables: SQLTables) -> StorageError {
        if unique.contains(code) { return violated(code, connection, tables) }
        let error = SQLiteError.error(code, connection.handle)
        switch code & 0xff {
        case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE:
            return StorageError(.invalidPredicate, "SQLite could not evaluate the statement", cause: error.cause)
        case SQLITE_CONSTRAINT where code == SQLiteConstraint.trigger:
            return StorageError(.validationFailed, "a row is rejected by a trigger of the database", cause: error.cause)
        case SQLITE_CONSTRAINT:
            return StorageError(
                .valueNotStorable,
                "a value is missing or its type differs from that of its column; a binding has the type of the interpolated value",
                details: details(code, connection, tables), cause: error.cause)
        default: return connection.error(code)
        }
    }

    /// Returns the entity and the property whose column a violated constraint names.
    private static func details(_ code: Int32, _ connection: SQLiteConnection, _ tables: SQLTables) -> StorageError.Details {
        let place = SQLiteConstraint.place(in: String(cString: sqlite3_errmsg(connection.handle)), code)
        for description in tables.schema.descriptions {
            let (index, slots) = (description.index, description.slots)
            let slot = slots.indices.first { place == "\(tables.table(index)).\(tables.column(index, $0))" }
            if let slot { return .init(entity: description.name, property: slots[slot].name) }
        }
        return .init()
    }

    private static func violated(_ code: Int32, _ connection: SQLiteConnection, _ tables: SQLTables) -> StorageError {
        let message = String(cString: sqlite3_errmsg(connection.handle))
        let concerned = tables.schema.descriptions.filter { message.contains(": \(tables.table($0.index)).") }
        let errors = concerned.map { SQLiteConstraint.error(code, connection, tables, $0.index) }
        // A subentity of the root may declare the constraint.
        return errors.first { $0.details.constraint != $0.details.entity } ?? errors.first ?? connection.error(code)
    }
}
#endif
