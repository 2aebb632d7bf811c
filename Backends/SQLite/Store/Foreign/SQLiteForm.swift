#if SQLite
internal import CSQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A form in which another program stores values of a type. The SQL function `polystore_value` converts it to Polystore's own form.
///
/// SQLite allows any value in any column. A value without this form causes an error that names the column; it never becomes another value.
enum SQLiteForm: Int32 {
    case bool = 1
    case int16, int32, int64, float, double, decimal, string, url, date, uuid, data
    /// Seconds since 2001.
    case referenceDate
    /// Data after a byte that determines whether it follows or is in a file (`SQLiteOutsideData`).
    case outsideData

    init(_ type: ValueType) {
        switch type {
        case .bool: self = .bool
        case .int16: self = .int16
        case .int32: self = .int32
        case .int64: self = .int64
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .url: self = .url
        case .date: self = .date
        case .uuid: self = .uuid
        case .data: self = .data
        }
    }

    /// The type of the converted value.
    var type: ValueType {
        switch self {
        case .bool: .bool
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .url: .url
        case .date, .referenceDate: .date
        case .uuid: .uuid
        case .data, .outsideData: .data
        }
    }

    /// Returns the call that converts a column of the table `t` from this form.
    ///
    /// - Parameters:
    ///   - place: The name of the column in errors.
    ///   - folder: The folder of the data that is stored outside of the file.
    func call(_ column: String, place: String, folder: String? = nil) -> String {
        let texts = [place, folder].compactMap { $0 }.map { ", '\(SQLText.doubling("'", in: $0))'" }.joined()
        return "polystore_value(t.\(SQLText.quoted(column)), \(rawValue)\(texts))"
    }

    /// The description of a valid value, for people to read.
    var expectation: String {
        switch self {
        case .bool: "0, 1, true or false"
        case .int16, .int32, .int64: "an integer of the type \(type.rawValue)"
        case .float, .double: "a number"
        case .decimal: "a decimal number of at most \(DecimalKey.maximumDigits) digits"
        case .string, .url: "a valid UTF-8 string without U+0000"
        case .date:
            "a date: a string such as 2020-01-31 or 2020-01-31 10:00:00, or seconds since 1970 (Julian day numbers are not supported)"
        case .referenceDate: "a date as seconds since 2001"
        case .uuid: "a UUID: sixteen bytes, or a string of 32 hexadecimal digits"
        case .data: "bytes"
        case .outsideData: "bytes, in the column or in an existing external file"
        }
    }

    /// Whether a value, as most values do, already has Polystore's form and needs no conversion.
    func isKept(_ value: OpaquePointer) -> Bool {
        let type = sqlite3_value_type(value)
        switch self {
        case .int64: return type == SQLITE_INTEGER
        // SQLite has no NaN, but a negative zero.
        case .double: return type == SQLITE_FLOAT && sqlite3_value_double(value) != 0
        case .string: return type == SQLITE_TEXT && Self.bytes(value).allSatisfy { $0 > 0 && $0 < 0x80 }
        case .data: return type == SQLITE_BLOB
        case .uuid: return type == SQLITE_BLOB && sqlite3_value_bytes(value) == 16
        case .bool, .int16, .int32, .float, .decimal, .url, .date, .referenceDate, .outsideData: return false
        }
    }

    /// Returns the value in Polystore's form, or nil where it has none.
    func value(_ value: OpaquePointer, folder: String?) -> Value? {
        guard let found = parsed(value, folder) else { return nil }
        switch self {
        // The parser has already produced Polystore's form. Checking the digits again would double the time.
        case .bool, .int64, .decimal, .uuid, .data, .outsideData: return found
        case .int16, .int32, .float, .double, .string, .url, .date, .referenceDate: return try? Attribute("", type).normalise(found)
        }
    }

    private func parsed(_ value: OpaquePointer, _ folder: String?) -> Value? {
        switch self {
        case .bool: Self.text(value).flatMap { ValueText.value($0, as: .bool) }
        case .int16, .int32, .int64: Self.whole(value).map(Value.int)
        case .float, .double: Self.number(value).map(Value.double)
        case .decimal: Self.text(value).flatMap { ValueText.value($0, as: .decimal) }
        case .string, .url: Self.text(value).map(Value.string)
        case .date: Self.date(value).map(Value.date)
        case .referenceDate: Self.number(value).flatMap { Microseconds.from(Date(timeIntervalSinceReferenceDate: $0)) }.map(Value.date)
        case .uuid: Self.uuid(value).map(Value.uuid)
        case .data: Value.data(Data(Self.bytes(value)))
        case .outsideData: SQLiteOutsideData.data(Self.bytes(value), folder).map(Value.data)
        }
    }

    private static func bytes(_ value: OpaquePointer) -> UnsafeRawBufferPointer {
        // The bytes of a text are its UTF-8. SQLite prescribes the order of the two calls.
        let start = sqlite3_value_type(value) == SQLITE_BLOB ? sqlite3_value_blob(value) : UnsafeRawPointer(sqlite3_value_text(value))
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
    }

    /// Returns the text of a value. Numbers are written so that reading them returns the same number.
    private static func text(_ value: OpaquePointer) -> String? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: String(sqlite3_value_int64(value))
        case SQLITE_FLOAT: String(sqlite3_value_double(value))
        case SQLITE_TEXT: String(utf8: bytes(value))
        default: nil
        }
    }

    private static func whole(_ value: OpaquePointer) -> Int64? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: sqlite3_value_int64(value)
        case SQLITE_FLOAT: Int64(exactly: sqlite3_value_double(value))
        default: nil
        }
    }

    private static func number(_ value: OpaquePointer) -> Double? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: Double(exactly: sqlite3_value_int64(value))
        case SQLITE_FLOAT: sqlite3_value_double(value)
        default: nil
        }
    }

    /// The Julian day numbers of the years 1 to 9999, which SQLite's own functions interpret as dates
    /// (https://sqlite.org/lang_datefunc.html).
    static let julianDays = 1_721_425.5...5_373_484.5

    private static func date(_ value: OpaquePointer) -> Int64? {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            let (microseconds, overflows) = sqlite3_value_int64(value).multipliedReportingOverflow(by: 1_000_000)
            return overflows ? nil : microseconds
        case SQLITE_FLOAT:
            let seconds = sqlite3_value_double(value)
            return julianDays.contains(seconds) ? nil : Microseconds.from(Date(timeIntervalSince1970: seconds))
        case SQLITE_TEXT:
            guard let text = String(utf8: bytes(value)) else { return nil }
            // A time without a time zone is in UTC, as in SQLite's own functions.
            let full = withSeconds(text)
            return ISO8601.microseconds(full) ?? ISO8601.microseconds(full + "Z")
        default: return nil
        }
    }

    /// Returns the text of a date with the seconds that it may omit: `2020-01-31 10:00`, with or without a time zone.
    private static func withSeconds(_ text: String) -> String {
        let bytes = Array(text.utf8), colon = UInt8(ascii: ":")
        guard bytes.count >= 16, bytes[13] == colon, bytes.count == 16 || bytes[16] != colon else { return text }
        return String(decoding: bytes[..<16] + ":00".utf8 + bytes[16...], as: UTF8.self)
    }

    private static func uuid(_ value: OpaquePointer) -> UUID? {
        let bytes = bytes(value)
        if sqlite3_value_type(value) == SQLITE_BLOB {
            guard bytes.count == 16, let start = bytes.baseAddress else { return nil }
            return UUID(uuid: start.loadUnaligned(as: uuid_t.self))
        }
        guard var text = String(utf8: bytes) else { return nil }
        if text.utf8.count == 32, text.utf8.allSatisfy({ $0 != 0x2d }) {
            for place in [20, 16, 12, 8] { text.insert("-", at: text.utf8.index(text.startIndex, offsetBy: place)) }
        }
        return UUID(uuidString: text)
    }
}
#endif
