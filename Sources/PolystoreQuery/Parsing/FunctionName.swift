internal import PolystoreFoundation
internal import PolystoreSchema

/// Finds the functions of the text form by their names.
enum FunctionName {
    private static let plain = Dictionary(
        Function.named.flatMap { function in function.descriptor.names.map { ($0, function) } }, uniquingKeysWith: { first, _ in first })

    static let all = plain.keys.sorted() + ["folded", "now"] + DatePart.allCases.map(\.rawValue)

    /// Returns whether options in brackets may follow the name.
    static func takesOptions(_ name: String) -> Bool { name == "folded" }

    /// Returns the expression of a call, or nil for a name that is not that of a function.
    static func expression(_ name: String, _ options: TextOptions, _ arguments: [QueryExpression]) throws(QueryError) -> QueryExpression? {
        if name == "folded" { return .function(.folded(options), arguments) }
        if name == "now", arguments.isEmpty { return .value(.date(Microseconds.from(Date()) ?? 0)) }
        if let function = plain[name] { return .function(function, arguments) }
        guard let part = DatePart(rawValue: name) else { return nil }
        // The time zone is the second argument; without one it is UTC.
        if arguments.count == 1 { return .function(.datePart(part, timeZone: "UTC"), arguments) }
        guard arguments.count == 2, case .value(.string(let zone)) = arguments[1].node else {
            throw QueryError("\(name) takes a date and optionally the identifier of a time zone, by default UTC")
        }
        return .function(.datePart(part, timeZone: zone), [arguments[0]])
    }
}
