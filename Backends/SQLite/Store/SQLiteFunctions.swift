#if SQLite
internal import CSQLite
internal import PolystoreStorage

/// What SQLite cannot do with texts as the contract says: the layer's own code as SQL functions (https://sqlite.org/appfunc.html).
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
    }

    private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer? {
        guard sqlite3_value_type(value) != SQLITE_NULL, let text = sqlite3_value_text(value) else { return nil }
        return UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value)))
    }

    private static let fold: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = { context, _, values in
        guard let values, let bytes = bytes(values[0]) else { return sqlite3_result_null(context) }
        let options = TextOptions(rawValue: Int(sqlite3_value_int(values[1])))
        var folded = TextFolding.fold(String(decoding: bytes, as: UTF8.self), options)
        folded.withUTF8 { result in
            // -1 is SQLITE_TRANSIENT: the bytes are copied at once.
            sqlite3_result_text(
                context, UnsafeRawPointer(result.baseAddress)?.assumingMemoryBound(to: CChar.self), Int32(result.count),
                unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        }
    }

    /// The kinds of match: 1 is `like`, 2 is `matches`, 3 is `search`.
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
