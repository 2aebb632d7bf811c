#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLReader {
    func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows {
        try checkOpen()
        let statement = try RawStatement(query: sql, core.tables), locks = locksRows && statement.locksRows
        if locks { try checkAccess(statement) }
        return try raw(statement, changesNothing: !locks) { result throws(StorageError) in
            // SELECT … INTO makes a table, and returns no rows.
            if !result.hasColumns { throw StorageError(.invalidPredicate, "SELECT INTO is not supported") }
            return try result.rawRows()
        }
    }

    /// Runs a statement of the program in a separate savepoint, so that the transaction continues whatever the result is.
    fileprivate func raw<Answer>(
        _ raw: RawStatement, changesNothing: Bool, _ answer: (PostgreSQLResult) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        // Rolling back to the savepoint restores the setting. It would also release the locks of a query.
        let guarded = changesNothing ? "; SET LOCAL transaction_read_only = on" : ""
        try connection.execute("SAVEPOINT polystore_raw\(guarded)")
        do throws(StorageError) {
            let result = try connection.query(raw.sql, raw.bindings.map(PostgreSQLParameter.init))
            if result.isEmptyQuery { throw StorageError(.invalidPredicate, "the SQL contains no statement") }
            let found = try answer(result)
            try connection.execute("\(changesNothing ? "ROLLBACK TO SAVEPOINT polystore_raw; " : "")RELEASE SAVEPOINT polystore_raw")
            return found
        } catch {
            try? connection.execute("ROLLBACK TO SAVEPOINT polystore_raw; RELEASE SAVEPOINT polystore_raw")
            throw PostgreSQLRawError.error(error, raw)
        }
    }
}

extension PostgreSQLWriter {
    func execute(_ sql: RawSQL) throws(StorageError) -> Int {
        try checkOpen()
        try changeUnrecorded()
        return try change(sql, andThen: raiseKeys)
    }

    func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows {
        try checkOpen()
        try changeUnrecorded()
        return try changeReturning(sql, andThen: raiseKeys)
    }

    /// Raises the key sequences above the keys that a statement of the program has chosen.
    private func raiseKeys(after statement: RawStatement) throws(StorageError) {
        let roots = core.tables.schema.roots, tables = Set(statement.tablesWithChosenKeys(roots.map { core.tables.table($0) }))
        for root in roots where tables.contains(core.tables.table(root)) { try raiseKeys(root) }
    }
}

extension PostgreSQLReader {
    /// Runs a statement of the program that changes rows, in a write transaction.
    ///
    /// - Parameter end: A part of the statement that is done after it: if it fails, the statement has no effect.
    final func change(
        _ sql: RawSQL, andThen end: (RawStatement) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> Int {
        try changed(sql, end) { $0.command.hasPrefix("SELECT") ? 0 : $0.changes }
    }

    /// Runs a statement of the program that changes rows, and returns those of its RETURNING clause.
    ///
    /// - Parameter end: A part of the statement that is done after it: if it fails, the statement has no effect.
    final func changeReturning(
        _ sql: RawSQL, andThen end: (RawStatement) throws(StorageError) -> Void = { _ in }
    ) throws(StorageError) -> RawRows {
        try changed(sql, end) { result throws(StorageError) in
            if !result.hasColumns { throw .returnsNoRows }
            return try result.rawRows()
        }
    }

    private func changed<Answer>(
        _ sql: RawSQL, _ end: (RawStatement) throws(StorageError) -> Void, _ answer: (PostgreSQLResult) throws(StorageError) -> Answer
    ) throws(StorageError) -> Answer {
        try checkOpen()
        let statement = try RawStatement(change: sql, core.tables)
        try checkAccess(statement)
        return try raw(statement, changesNothing: false) { result throws(StorageError) in
            let found = try answer(result)
            try end(statement)
            return found
        }
    }

    fileprivate func checkAccess(_ statement: RawStatement) throws(StorageError) {
        if statement.sql.lowercased().contains("polystore_") {
            throw StorageError(.invalidPredicate, "internal data of the store, in tables named polystore_…, cannot be accessed")
        }
    }
}

extension PostgreSQLResult {
    fileprivate var isEmptyQuery: Bool { PQresultStatus(handle) == PGRES_EMPTY_QUERY }

    /// Whether the statement returns rows, even if there are none.
    fileprivate var hasColumns: Bool { PQresultStatus(handle) == PGRES_TUPLES_OK }

    fileprivate func rawRows() throws(StorageError) -> RawRows {
        var rows: [[Value]] = []
        for row in 0..<count {
            var values: [Value] = []
            for column in oids.indices { values.append(try rawValue(row, column)) }
            rows.append(values)
        }
        return RawRows(names: oids.indices.map(name), rows: rows)
    }

    fileprivate func name(_ column: Int) -> String { PQfname(handle, Int32(column)).map { String(cString: $0) } ?? "" }

    /// Returns a value in the server's type (OIDs: pg_type.dat).
    fileprivate func rawValue(_ row: Int, _ column: Int) throws(StorageError) -> Value {
        guard let bytes = bytes(row, column), let start = bytes.baseAddress else { return .null }
        let value: Value? =
            switch oids[column] {
            case 16: bytes.number(UInt8.self).map { .bool($0 != 0) }
            case 20: bytes.number(Int64.self).map(Value.int)
            case 21: bytes.number(Int16.self).map { .int(Int64($0)) }
            case 23: bytes.number(Int32.self).map { .int(Int64($0)) }
            case 26: bytes.number(UInt32.self).map { .int(Int64($0)) }
            case 700: Self.finite(bytes.number(UInt32.self).map { Double(Float(bitPattern: $0)) })
            case 701: Self.finite(bytes.number(UInt64.self).map(Double.init(bitPattern:)))
            case 1082: Self.date(bytes.number(Int32.self).map { Int64($0) &* 86_400_000_000 })
            case 1114, 1184: Self.date(bytes.number(Int64.self))
            case 1700: Self.decimal(bytes)
            case 17: .data(Data(bytes))
            case 2950: bytes.count == 16 ? Value(Cell.blob(start, 16), as: .uuid) : nil
            case 18, 19, 25, 114, 705, 1042, 1043: String(utf8: bytes).map(Value.string)
            // jsonb: a format version, then text.
            case 3802: String(utf8: UnsafeRawBufferPointer(rebasing: bytes.dropFirst())).map(Value.string)
            default: nil
            }
        if let value { return value }
        throw StorageError(
            .unsupported, "column \(name(column)) has a type or a value that no attribute supports; cast it: \(name(column))::text")
    }

    private static func finite(_ number: Double?) -> Value? { number.flatMap { $0.isNaN ? nil : .double($0) } }

    private static func date(_ microseconds: Int64?) -> Value? {
        guard let (date, overflow) = microseconds?.addingReportingOverflow(PostgreSQLCodec.epoch), !overflow else { return nil }
        return (Microseconds.minimum...Microseconds.maximum).contains(date) ? .date(date) : nil
    }

    /// Returns a decimal, or nil for NaN, infinities (their signs are 0xC000, 0xD000 and 0xF000), and more than 38 digits.
    private static func decimal(_ bytes: UnsafeRawBufferPointer) -> Value? {
        PostgreSQLNumeric.decode(bytes).flatMap { $0.isNaN ? nil : .decimal($0) }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a number in wire format, or nil if the field has another size.
    fileprivate func number<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        count == MemoryLayout<T>.size ? T(bigEndian: loadUnaligned(as: T.self)) : nil
    }
}

/// A translation of the server's errors for statements of the program.
private enum PostgreSQLRawError {
    static func error(_ error: StorageError, _ raw: RawStatement) -> StorageError {
        guard let cause = error.cause as? PostgreSQLError.Cause else { return error }
        func make(_ code: StorageError.Code, _ message: String) -> StorageError { StorageError(code, message, cause: cause) }
        switch (cause.state.prefix(2), cause.state) {
        case (_, "25006") where raw.locksRows:
            return make(.readOnly, "the statement locks rows, which only queryRows in a write transaction can do")
        case (_, "25006"):
            return make(
                .readOnly, "the statement changes data, which a query cannot do; use execute or executeReturning in a write transaction")
        case (_, "42501"), (_, "22003"), (_, "22012"), (_, "22021"), (_, "23505"): return error
        case ("42", _):
            return make(
                .invalidPredicate,
                "the server rejected the SQL: \(cause.sentence ?? cause.state)\(raw.place(cause.offset))")
        case (_, "08P01"): return make(.invalidPredicate, "the SQL contains placeholders; interpolate the values instead")
        case ("22", _), ("21", _): return make(.invalidPredicate, "the server could not evaluate the statement (SQLSTATE \(cause.state))")
        case ("23", _):
            return make(
                .valueNotStorable,
                "a value is missing or its type differs from that of its column; a binding has the type of the interpolated value")
        case (_, "54001"): return make(.limitExceeded, "the statement is nested too deeply for the server")
        default: return error
        }
    }
}
#endif
