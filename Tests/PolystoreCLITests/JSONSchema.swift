import Foundation

/// A JSON value.
enum JSONValue: Decodable, Hashable {
    case null, bool(Bool), number(Double), string(String), array([JSONValue]), object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    init(_ text: String) throws { self = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) }

    subscript(_ name: String) -> JSONValue? { if case .object(let members) = self { members[name] } else { nil } }

    var members: [String: JSONValue] { if case .object(let members) = self { members } else { [:] } }
    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
}

/// A JSON Schema, as far as the description of the output uses it.
struct JSONSchema {
    private let definitions: [String: JSONValue]

    init(_ text: String) throws { definitions = try JSONValue(text)["$defs"]?.members ?? [:] }

    /// The names of the definitions.
    var names: Set<String> { Set(definitions.keys) }

    /// Returns why a text does not agree with a definition; nil if it does.
    func fault(in text: String, _ name: String) throws -> String? {
        guard let schema = definitions[name] else { return "there is no \(name)" }
        return fault(try JSONValue(text), schema, name)
    }

    private func fault(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> String? {
        if let reference = schema["$ref"]?.text {
            guard let found = definitions[String(reference.dropFirst("#/$defs/".count))] else { return "there is no \(reference)" }
            return fault(value, found, place)
        }
        if let choices = schema["anyOf"]?.items {
            let faults = choices.compactMap { fault(value, $0, place) }
            return faults.count == choices.count ? faults.joined(separator: "; or ") : nil
        }
        if let choices = schema["enum"]?.items { return choices.contains(value) ? nil : "\(place): \(value) is none of \(choices)" }
        if let type = schema["type"] {
            let names = type.text.map { [$0] } ?? type.items.compactMap(\.text)
            if !names.contains(where: { Self.is(value, $0) }) { return "\(place): \(value) is not \(names)" }
        }
        switch value {
        case .object(let members): return fault(members, schema, place)
        case .array(let items):
            guard let each = schema["items"] else { return nil }
            return items.enumerated().lazy.compactMap { fault($1, each, "\(place)[\($0)]") }.first
        case .null, .bool, .number, .string: return nil
        }
    }

    private func fault(_ members: [String: JSONValue], _ schema: JSONValue, _ place: String) -> String? {
        if let missing = schema["required"]?.items.first(where: { members[$0.text ?? ""] == nil }) {
            return "\(place): \(missing) is missing"
        }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            if let known = schema["properties"]?[name] ?? schema["additionalProperties"], known != .bool(false) {
                if let fault = fault(member, known, "\(place).\(name)") { return fault }
            } else if schema["additionalProperties"] == .bool(false) {
                return "\(place): \(name) is not described"
            }
        }
        return nil
    }

    private static func `is`(_ value: JSONValue, _ type: String) -> Bool {
        switch (value, type) {
        case (.object, "object"), (.array, "array"), (.string, "string"), (.null, "null"), (.bool, "boolean"), (.number, "number"): true
        case (.number(let number), "integer"): number == number.rounded()
        default: false
        }
    }
}
