internal import PolystoreStorage

/// Builds JSON from parts that are already JSON.
enum JSONText {
    static func object(_ members: [(name: String, value: String)]) -> String {
        "{\(members.map { "\(JSONWriter.quoted($0.name)):\($0.value)" }.joined(separator: ","))}"
    }

    static func array(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }

    /// Returns a string in quotes, or `null` for nil.
    static func string(_ text: String?) -> String { text.map(JSONWriter.quoted) ?? "null" }

    static func strings(_ texts: [String]) -> String { array(texts.map(JSONWriter.quoted)) }

    /// Returns the version and the hash of a schema.
    static func version(_ schema: Schema) -> [(name: String, value: String)] {
        [("version", string(schema.version)), ("hash", string(schema.hash.description))]
    }
}
