#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A form in which another program stores values of a type. The SQL function `polystore_value` converts it to Polystore's own form.
///
/// SQLite allows any value in any column. A value without this form causes an error that names the column; it never becomes another value.
struct SQLiteForm: Sendable, Hashable {
    /// A convention for values that deviates from the usual one of SQLite programs.
    enum Convention: Sendable {
        case usual
        /// Seconds since 2001.
        case referenceDate
        /// Data after a byte that determines whether it follows or is in a file (`SQLiteOutsideData`).
        case outsideData
    }

    /// The type of the converted value.
    let type: ValueType
    private let convention: Convention

    init(_ type: ValueType) { self.init(type, .usual) }

    private init(_ type: ValueType, _ convention: Convention) {
        self.type = type
        self.convention = convention
    }

    static let referenceDate = SQLiteForm(.date, .referenceDate)
    static let outsideData = SQLiteForm(.data, .outsideData)

    /// All forms. The SQL function takes the position of one.
    private static let all = ValueType.allCases.map { SQLiteForm($0) } + [referenceDate, outsideData]

    /// Returns the form with a position; nil if there is none.
    static func numbered(_ position: Int32) -> SQLiteForm? { all.indices.contains(Int(position)) ? all[Int(position)] : nil }

    /// Returns the call that converts a column of the table `t` from this form.
    ///
    /// - Parameters:
    ///   - place: The name of the column in errors.
    ///   - folder: The folder of the data that is stored outside of the file.
    func call(_ column: String, place: String, folder: String? = nil) -> String {
        let texts = [place, folder].compactMap { $0 }.map { ", '\(SQLText.doubling("'", in: $0))'" }.joined()
        return "polystore_value(t.\(SQLText.quoted(column)), \(Self.all.firstIndex(of: self) ?? -1)\(texts))"
    }

    /// The description of a valid value, for people to read.
    var expectation: String {
        switch (convention, type) {
        case (.referenceDate, _): "a date as seconds since 2001"
        case (.outsideData, _): "bytes, in the column or in an existing external file"
        case (.usual, .bool): "0, 1, true or false"
        case (.usual, .int16), (.usual, .int32), (.usual, .int64): "an integer of the type \(type.rawValue)"
        case (.usual, .float), (.usual, .double): "a number"
        case (.usual, .decimal): "a decimal number of at most \(DecimalKey.maximumDigits) digits"
        case (.usual, .string), (.usual, .url): "a valid UTF-8 string without U+0000"
        case (.usual, .date):
            "a date: a string such as 2020-01-31 or 2020-01-31 10:00:00, or seconds since 1970 (Julian day numbers are not supported)"
        case (.usual, .uuid): "a UUID: sixteen bytes, or a string of 32 hexadecimal digits"
        case (.usual, .data): "bytes"
        }
    }

    /// Whether a value, as most values do, already has Polystore's form and needs no conversion.
    func isKept(_ value: OpaquePointer) -> Bool {
        if convention != .usual { return false }
        let stored = sqlite3_value_type(value)
        switch type {
        case .int64: return stored == SQLITE_INTEGER
        // SQLite has no NaN, but a negative zero.
        case .double: return stored == SQLITE_FLOAT && sqlite3_value_double(value) != 0
        case .string: return stored == SQLITE_TEXT && Self.bytes(value).allSatisfy { $0 > 0 && $0 < 0x80 }
        case .data: return stored == SQLITE_BLOB
        case .uuid: return stored == SQLITE_BLOB && sqlite3_value_bytes(value) == 16
        case .bool, .int16, .int32, .float, .decimal, .url, .date: return false
        }
    }

    /// Returns the value in Polystore's form, or nil where it has none.
    func value(_ value: OpaquePointer, folder: String?) -> Value? {
        guard let found = parsed(value, folder) else { return nil }
        // The parser has checked the digits of a decimal, and checking them again would double the time.
        return type == .decimal ? found : try? Attribute("", type).normalise(found)
    }

    private func parsed(_ value: OpaquePointer, _ folder: String?) -> Value? {
        switch (convention, type) {
        case (.referenceDate, _):
            Self.number(value).flatMap { Microseconds.from(Date(timeIntervalSinceReferenceDate: $0)) }.map(Value.date)
        case (.outsideData, _): SQLiteOutsideData.data(Self.bytes(value), folder).map(Value.data)
        case (.usual, .bool): Self.text(value).flatMap { ValueText.value($0, as: .bool) }
        case (.usual, .int16), (.usual, .int32), (.usual, .int64): Self.whole(value).map(Value.int)
        case (.usual, .float), (.usual, .double): Self.number(value).map(Value.double)
        case (.usual, .decimal): Self.text(value).flatMap { ValueText.value($0, as: .decimal) }
        case (.usual, .string), (.usual, .url): Self.text(value).map(Value.string)
        case (.usual, .date): Self.date(value).map(Value.date)
        case (.usual, .uuid): Self.uuid(value).map(Value.uuid)
        // Bytes need no conversion, and texts and numbers are not bytes.
        case (.usual, .data): nil
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

extension SQLiteStoring {
    /// Creates the form in which a column stores values of a type, or nil where it is Polystore's own.
    ///
    /// - Parameter newest: The `typeof` of the newest value, or nil when there is none. It decides between the forms of dates and UUIDs.
    init?(_ type: ValueType, declared: SQLiteDeclaredType, newest: String?) {
        switch type {
        case .bool, .int16, .int32, .int64, .float, .double, .data: return nil
        case .decimal: self = .number
        case .date: self = newest == "integer" || newest == "real" ? .seconds : declared.isDay ? .day : .instant
        case .uuid:
            if newest == "blob" { return nil }
            self = .uuidText
        case .string, .url:
            if !declared.keepsNumbers { return nil }
            self = .guardedText
        }
    }
}
#endif
