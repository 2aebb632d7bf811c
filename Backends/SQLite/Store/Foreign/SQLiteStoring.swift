#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A form in which another program stores values, written by the SQL function `polystore_stored`: the inverse of `SQLiteForm`.
///
/// A value that could not be read back unchanged causes an error that names the column. SQLite converts texts that look like numbers to
/// numbers if the declared type of a column demands it; such values are refused instead of changed.
enum SQLiteStoring: Int32 {
    /// A date as `2020-01-31`, followed by the time if there is one.
    case day = 1
    /// A date as `2020-01-31 10:00:00`, in UTC, with a fraction if there is one.
    case instant
    /// A date as seconds since 1970.
    case seconds
    /// A decimal as a number.
    case number
    /// A UUID in lower case.
    case uuidText
    /// A text in a column that stores numbers as numbers.
    case guardedText
    /// A decimal as the nearest number.
    case nearestNumber

    /// Returns the SQL that converts a Polystore value to this form.
    func call(place: String) -> @Sendable (String) -> String {
        let text = "\(rawValue), '\(SQLText.doubling("'", in: place))'"
        return { "polystore_stored(\($0), \(text))" }
    }

    private enum Stored {
        case integer(Int64)
        case real(Double)
        case text(String)
    }

    private func stored(_ value: OpaquePointer) -> Stored? {
        switch self {
        case .day:
            let text = ISO8601.string(sqlite3_value_int64(value))
            return text.hasSuffix("T00:00:00Z") ? .text(String(text.dropLast(10))) : .text(Self.plain(text))
        case .instant: return .text(Self.text(sqlite3_value_int64(value)))
        case .seconds: return Self.seconds(sqlite3_value_int64(value))
        case .number: return Self.number(Self.bytes(value))
        case .nearestNumber: return Self.number(Self.bytes(value)) ?? Self.nearest(Self.bytes(value))
        case .uuidText:
            guard let start = sqlite3_value_blob(value), sqlite3_value_bytes(value) == 16 else { return nil }
            return .text(UUID(uuid: start.loadUnaligned(as: uuid_t.self)).uuidString.lowercased())
        case .guardedText:
            guard let text = sqlite3_value_text(value).map({ String(cString: $0) }), !Self.isNumber(text) else { return nil }
            return .text(text)
        }
    }

    /// Returns a date as the text of a column for instants.
    static func text(_ microseconds: Int64) -> String { plain(ISO8601.string(microseconds)) }

    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "Z" }.map { $0 == "T" ? " " : $0 }))
    }

    private static func seconds(_ microseconds: Int64) -> Stored? {
        if microseconds % 1_000_000 == 0 { return .integer(microseconds / 1_000_000) }
        let seconds = Double(microseconds) / 1_000_000
        let isRead = Microseconds.from(Date(timeIntervalSince1970: seconds)) == microseconds && !SQLiteForm.julianDays.contains(seconds)
        return isRead ? .real(seconds) : nil
    }

    private static func bytes(_ value: OpaquePointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
    }

    /// Whether a decimal, given as a cell, is read back unchanged from a number.
    static func isExact(_ decimal: Cell) -> Bool { decimal.isNull || number(decimal.bytes) != nil }

    private static func nearest(_ bytes: UnsafeRawBufferPointer) -> Stored? {
        DecimalKey.decode(bytes).flatMap { Double(Value.decimal($0).plainText) }.map(Stored.real)
    }

    private static func number(_ bytes: UnsafeRawBufferPointer) -> Stored? {
        guard let decimal = DecimalKey.decode(bytes) else { return nil }
        let text = Value.decimal(decimal).plainText
        if let integer = Int64(text) { return .integer(integer) }
        guard let real = Double(text), case .decimal(decimal)? = ValueText.value(String(real), as: .decimal) else { return nil }
        return .real(real)
    }

    /// Whether the engine would convert a text to a number (https://sqlite.org/datatype3.html, 3.1).
    private static func isNumber(_ text: String) -> Bool {
        let spaces: Set<Character> = [" ", "\t", "\n", "\u{b}", "\u{c}", "\r", "\r\n"]
        let trimmed = text.drop(while: spaces.contains).reversed().drop(while: spaces.contains).reversed()
        guard let first = trimmed.first, first.isASCII, first.isNumber || "+-.".contains(first) else { return false }
        return Double(String(trimmed)) != nil
    }

    // MARK: The function

    /// Adds the function `polystore_stored(value, form, place)` to a connection.
    static func register(_ handle: OpaquePointer) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        sqlite3_create_function_v2(handle, "polystore_stored", 3, flags, nil, convert, nil, nil, nil)
    }

    private static let convert: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, values in
        guard let values, let value = values[0], sqlite3_value_type(value) != SQLITE_NULL,
            let form = SQLiteStoring(rawValue: sqlite3_value_int(values[1]))
        else { return sqlite3_result_null(context) }
        switch form.stored(value) {
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        // -1 is SQLITE_TRANSIENT: SQLite copies the bytes immediately.
        case .text(let text): sqlite3_result_text(context, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        case nil:
            let place = sqlite3_value_text(values[2]).map { String(cString: $0) } ?? "a column"
            sqlite3_result_error(context, "\(place) cannot store the value exactly in the form that SQLite uses for its declared type", -1)
            sqlite3_result_error_code(context, SQLITE_MISMATCH)
        }
    }
}

extension Value {
    /// The text of a decimal.
    fileprivate var plainText: String { if case .string(let text) = ValueText.json(self) { text } else { "" } }
}
#endif
