public import PolystoreFoundation
internal import PolystoreStorage

/// A coder for binary property lists.
public enum PropertyListAttributeCoder: AttributeCoder {
    /// `plist`.
    public static var name: String { "plist" }
    /// Encodes a value as a property list.
    public static func encode(_ value: some Encodable) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
    }
    /// Decodes a value from a property list.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try PropertyListDecoder().decode(type, from: data)
    }
}
