public import PolystoreFoundation
internal import PolystoreStorage

/// A coder for JSON with sorted keys.
public enum JSONAttributeCoder: AttributeCoder {
    /// `json`.
    public static var name: String { "json" }
    /// Encodes a value as JSON.
    public static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
    /// Decodes a value from JSON.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }
}
