internal import PolystoreStorage

/// The value of a variable in JSON: a string, a number, a Boolean, `null`, a list of them, or an object with one member that names the type
/// of its value, for types that JSON lacks: `{"date": "2026-01-31T12:00:00Z"}`, `{"uuid": "…"}`, `{"decimal": "9.99"}`, `{"data": "…"}` in
/// Base64.
extension PredicateArgument {
    /// Reads the value of a variable.
    init(_ json: JSONValue, _ name: String) throws(StorageError) {
        guard case .array(let items) = json else {
            self = .value(try Self.value(json, name))
            return
        }
        var values: [Value] = []
        for item in items { values.append(try Self.value(item.value, name)) }
        self = .list(values)
    }

    private static func value(_ json: JSONValue, _ name: String) throws(StorageError) -> Value {
        switch json {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .string(let text): return .string(text)
        case .number(let text):
            // As in the text of a condition: an integer, or else a floating-point number.
            if let number = Int64(text) { return .int(number) }
            if let number = Double(text), number.isFinite { return .double(number) }
            throw wrong(name, "is out of range")
        case .object(let members):
            let types = ValueType.allCases.map(\.rawValue)
            guard members.count == 1, let member = members.first else {
                throw wrong(name, "must have one member, which names the type of the value, as in {\"date\": \"2026-01-31T12:00:00Z\"}")
            }
            guard let type = ValueType(rawValue: member.name) else {
                throw wrong(name, "has no type \"\(member.name.excerpt())\"\(Suggestion.nearestOrAll(member.name, of: types))")
            }
            guard let value = ValueText.value(member.node.value, as: type), !value.isNull else {
                throw wrong(name, "is no value of type \(type.rawValue)")
            }
            return value
        case .array: throw wrong(name, "is a list in a list")
        }
    }

    private static func wrong(_ name: String, _ problem: String) -> StorageError {
        StorageError(.invalidPredicate, "the argument \"\(name.excerpt())\" \(problem)")
    }

    /// The JSON from which the argument is read.
    var json: String {
        switch self {
        case .value(let value): Self.json(value)
        case .list(let values): JSONText.array(values.map(Self.json))
        case .path(let path): JSONText.string(path.description)
        }
    }

    private static func json(_ value: Value) -> String {
        switch value {
        case .null, .bool, .int, .string: JSONText.value(value)
        case .double(let number) where number.isFinite: JSONText.value(value)
        case .double, .date, .uuid, .decimal, .data: JSONText.object([(value.type?.rawValue ?? "", JSONText.value(value))])
        }
    }
}
