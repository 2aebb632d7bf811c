#if SQLite
internal import CSQLite
internal import PolystoreStorage

/// SQL functions that call Polystore's own code, for operations that SQLite does not perform as the contract requires
/// (https://sqlite.org/appfunc.html).
enum SQLiteFunctions {
    /// A matcher that a statement keeps for its constant needle.
    private final class Kept {
        let matcher: TextMatcher
        init(_ matcher: TextMatcher) { self.matcher = matcher }
    }

    /// Adds the functions to a connection.
    static func register(_ handle: OpaquePointer) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        sqlite3_create_function_v2(handle, "polystore_fold", 2, flags, nil, fold, nil, nil, nil)
        sqlite3_create_function_v2(handle, "polystore_match", 3, flags, nil, match, nil, nil, nil)
        sqlite3_create_function_v2(handle, "polystore_words", 1, flags, nil, words, nil, nil, nil)
        registerCalls(handle)
    }

    private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
        guard sqlite3_value_type(value) != SQLITE_NULL, let text = sqlite3_value_text(value) else { return nil }
        return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
    }

    private static let fold: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, _, values in
        guard let values, let bytes = bytes(values[0]) else { return sqlite3_result_null(context) }
        let options = TextOptions(rawValue: Int(sqlite3_value_int(values[1])))
        var folded = TextFolding.fold(String(decoding: bytes, as: UTF8.self), options)
        folded.withUTF8 { SQLiteResult.give(context, text: UnsafeRawBufferPointer($0)) }
    }

    private static let words: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, values in
        guard let values, let bytes = bytes(values[0]) else { return sqlite3_result_null(context) }
        SearchWords.joined(utf8: bytes).withUnsafeBytes { SQLiteResult.give(context, text: $0) }
    }

    /// The function for a match, whose kind is 1 for `like`, 2 for `matches`, and 3 for `search`.
    private static let match: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, values in
        guard let values, let text = bytes(values[0]) else { return sqlite3_result_int(context, 0) }
        let matcher: TextMatcher
        if let kept = sqlite3_get_auxdata(context, 2) {
            matcher = Unmanaged<Kept>.fromOpaque(kept).takeUnretainedValue().matcher
        } else {
            guard let needle = bytes(values[2]) else { return sqlite3_result_int(context, 0) }
            let kind = [1: TextMatch.like, 3: .search][sqlite3_value_int(values[1])] ?? .matches
            matcher = TextMatcher(kind, String(decoding: needle, as: UTF8.self))
            sqlite3_set_auxdata(context, 2, Unmanaged.passRetained(Kept(matcher)).toOpaque()) { kept in
                if let kept { Unmanaged<Kept>.fromOpaque(kept).release() }
            }
        }
        sqlite3_result_int(context, matcher.matches(text) ? 1 : 0)
    }
}
#endif
