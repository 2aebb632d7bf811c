internal import PolystoreStorage

/// JSON that is put together of parts which are JSON already.
enum JSONText {
    static func object(_ members: [(name: String, value: String)]) -> String {
        "{\(members.map { "\(JSONWriter.quoted($0.name)):\($0.value)" }.joined(separator: ","))}"
    }

    static func array(_ items: [String]) -> String { "[\(items.joined(separator: ","))]" }

    /// A text in quotes, null for nil.
    static func string(_ text: String?) -> String { text.map(JSONWriter.quoted) ?? "null" }

    static func strings(_ texts: [String]) -> String { array(texts.map(JSONWriter.quoted)) }

    /// Version and hash of a schema.
    static func version(_ schema: Schema) -> [(name: String, value: String)] {
        [("version", string(schema.version)), ("hash", string(schema.hash.description))]
    }
}
