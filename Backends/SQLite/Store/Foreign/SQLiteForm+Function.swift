#if SQLite
internal import CSQLite
internal import Foundation
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
            let form = SQLiteForm(rawValue: sqlite3_value_int(values[1]))
        else { return sqlite3_result_null(context) }
        if form.isKept(value) { return sqlite3_result_value(context, value) }
        let folder = count > 3 ? sqlite3_value_text(values[3]).map { String(cString: $0) } : nil
        guard let result = form.value(value, folder: folder) else { return refuse(context, form, values[2]) }
        answer(context, result)
    }

    /// Ends the statement with an error that names the column and contains no value.
    private static func refuse(_ context: OpaquePointer?, _ form: SQLiteForm, _ place: OpaquePointer?) {
        let name = sqlite3_value_text(place).map { String(cString: $0) } ?? "a column"
        sqlite3_result_error(context, "\(name) holds a value that is not \(form.expectation)", -1)
        // The code is set after the message, because setting the message sets the code for an SQL error.
        sqlite3_result_error_code(context, SQLITE_MISMATCH)
    }

    private static func answer(_ context: OpaquePointer?, _ value: Value) {
        switch value {
        case .null: sqlite3_result_null(context)
        case .bool(let value): sqlite3_result_int(context, value ? 1 : 0)
        case .int(let number), .date(let number): sqlite3_result_int64(context, number)
        case .double(let number): sqlite3_result_double(context, number)
        case .string(var text):
            text.withUTF8 { bytes in
                // An empty text has no base address, and a null pointer would return NULL.
                guard let start = bytes.baseAddress else { return sqlite3_result_text(context, "", 0, nil) }
                let characters = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
                sqlite3_result_text64(context, characters, sqlite3_uint64(bytes.count), transient, UInt8(SQLITE_UTF8))
            }
        case .uuid(let id): withUnsafeBytes(of: id.uuid) { answer(context, $0) }
        case .data(let data): data.withUnsafeBytes { answer(context, $0) }
        case .decimal(let number): DecimalKey.encode(number).withUnsafeBytes { answer(context, $0) }
        }
    }

    private static func answer(_ context: OpaquePointer?, _ bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
        sqlite3_result_blob64(context, bytes.baseAddress, sqlite3_uint64(bytes.count), transient)
    }

    /// -1 is SQLITE_TRANSIENT: SQLite copies the bytes immediately.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
#endif
