#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreStorage

extension SQLiteForm {
    /// Adds the function `polystore_value(value, form, place[, folder])` to a connection.
    static func register(_ handle: OpaquePointer) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        for count in [3, 4] as [Int32] { sqlite3_create_function_v2(handle, "polystore_value", count, flags, nil, convert, nil, nil, nil) }
    }

    private static let convert: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, count, values in
        guard let values, let value = values[0], sqlite3_value_type(value) != SQLITE_NULL,
            let form = SQLiteForm.numbered(sqlite3_value_int(values[1]))
        else { return sqlite3_result_null(context) }
        if form.isKept(value) { return sqlite3_result_value(context, value) }
        let folder = count > 3 ? sqlite3_value_text(values[3]).map { String(cString: $0) } : nil
        guard let result = form.value(value, folder: folder) else { return refuse(context, form, values[2]) }
        SQLiteResult.give(context, result)
    }

    /// Ends the statement with an error that names the column and contains no value.
    private static func refuse(_ context: OpaquePointer?, _ form: SQLiteForm, _ place: OpaquePointer?) {
        let name = sqlite3_value_text(place).map { String(cString: $0) } ?? "a column"
        sqlite3_result_error(context, "\(name) holds a value that is not \(form.expectation)", -1)
        // The code is set after the message, because setting the message sets the code for an SQL error.
        sqlite3_result_error_code(context, SQLITE_MISMATCH)
    }
}
#endif
