package import PolystoreStorage

/// Builds JSON from parts that are already JSON.
package enum JSONText {
    package static func object(_ members: [(name: String, value: String)]) -> String {
        "{\(members.map { "\(JSONWriter.quoted($0.name)):\($0.value)" }.joined(separator: ","))}"
    }

    package static func array(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }

    /// Returns a string in quotes, or `null` for nil.
    package static func string(_ text: String?) -> String { text.map(JSONWriter.quoted) ?? "null" }

    package static func strings(_ texts: [String]) -> String { array(texts.map(JSONWriter.quoted)) }

    /// Returns a value as archives and answers have it.
    package static func value(_ value: Value) -> String { JSONWriter.write(ValueText.json(value)) }

    /// Returns the version and the hash of a schema.
    package static func version(_ schema: Schema) -> [(name: String, value: String)] {
        [("version", string(schema.version)), ("hash", string(schema.hash.description))]
    }
}
