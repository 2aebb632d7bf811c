#if PostgreSQL
/// What the server says about a value that a column does not accept, without the value.
struct PostgreSQLRefusal {
    /// The states of errors about a value: too long, out of range, malformed, a malformed date, a date out of range.
    static let states: Set<String> = ["22001", "22003", "22P02", "22007", "22008"]

    /// The type, as `format_type` names it; `array` for any array, `json` for both types of JSON. Nil where the server does not say it in
    /// English.
    let type: String?
    /// The table and the column of a row that was copied.
    let table: String?
    let column: String?

    init(state: String, message: String, detail: String, context: String) {
        guard Self.states.contains(state) else {
            (type, table, column) = (nil, nil, nil)
            return
        }
        type = Self.type(message, detail)
        // COPY item, line 1, column mail: "..."
        let copied = context.prefixMatch(of: #/COPY ([^,]+), line [0-9]+, column ([^:\n]+)/#)
        table = copied.map { String($0.1) }
        column = copied.map { String($0.2) }
    }

    private static func type(_ message: String, _ detail: String) -> String? {
        // Each pattern ends before the value, or follows it at the end of the message.
        if message.hasPrefix("malformed array literal") { return "array" }
        if let match = message.prefixMatch(of: #/invalid input value for enum ([^:]+): /#) { return String(match.1) }
        if let match = message.prefixMatch(of: #/invalid input syntax for type ([^:]+)/#) { return String(match.1) }
        if let match = message.prefixMatch(of: #/value too long for type (.+)/#) { return String(match.1) }
        if let match = detail.prefixMatch(of: #/A field with precision ([0-9]+), scale ([0-9]+) /#) {
            return "numeric(\(match.1),\(match.2))"
        }
        if let match = message.wholeMatch(of: #/(smallint|integer|bigint) out of range/#) { return String(match.1) }
        if let match = message.firstMatch(of: #/is out of range for type (smallint|integer|bigint|real|double precision)$/#) {
            return String(match.1)
        }
        return nil
    }
}
#endif
