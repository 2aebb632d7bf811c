public import PolystoreFoundation
internal import PolystoreStorage

/// An encoding between `Codable` values and bytes.
public protocol AttributeCoder: Sendable {
    /// The name that the schema records, so that a store is not opened with another coder.
    static var name: String { get }
    /// Encodes a value. Equal values must have equal bytes.
    static func encode(_ value: some Encodable) throws -> Data
    /// Decodes a value.
    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}
