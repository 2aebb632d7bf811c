public import Foundation
public import PolystoreStorage

/// How values of any shape become bytes and come back.
public protocol AttributeCoder: Sendable {
    /// The name that the schema keeps, so that a store is not opened with another coder.
    static var name: String { get }
    /// The bytes of a value; equal values must give equal bytes.
    static func encode(_ value: some Encodable) throws -> Data
    /// The value of bytes.
    static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// JSON with sorted keys.
public enum JSONAttributeCoder: AttributeCoder {
    /// `json`.
    public static var name: String { "json" }
    /// The JSON text of a value.
    public static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }
    /// The value of a JSON text.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: data)
    }
}

/// Binary property lists.
public enum PropertyListAttributeCoder: AttributeCoder {
    /// `plist`.
    public static var name: String { "plist" }
    /// The property list of a value.
    public static func encode(_ value: some Encodable) throws -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try encoder.encode(value)
    }
    /// The value of a property list.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try PropertyListDecoder().decode(type, from: data)
    }
}

/// A type of any shape that an attribute can have, kept as the bytes that a coder makes of it.
///
/// ```swift
/// struct Address: CodedAttributeValue {
///     var street = "", city = ""
///     static var placeholder: Address { Address() }
/// }
/// ```
/// What the coder refuses is refused when it is assigned; bytes that it cannot read are `corrupted`.
public protocol CodedAttributeValue: AttributeValue, Codable {
    /// The coder; JSON unless said otherwise.
    associatedtype Coder: AttributeCoder = JSONAttributeCoder
}

extension CodedAttributeValue {
    /// Data.
    public static var valueType: ValueType { .data }
    /// The name of the coder.
    public static var coderName: String? { Coder.name }
    /// The bytes; none for a value that the coder refuses, which an assignment does not let in.
    public var attributeValue: Value { .data((try? Coder.encode(self)) ?? Data()) }
    /// The value of bytes; nil if the coder cannot read them.
    public init?(attributeValue: Value) {
        guard case .data(let bytes) = attributeValue, let value = try? Coder.decode(Self.self, from: bytes) else { return nil }
        self = value
    }
    /// The value of a cell; nil if the coder cannot read its bytes.
    public static func _decode(_ cell: Cell) -> Self? {
        cell.isNull ? placeholder : try? Coder.decode(Self.self, from: Data(cell.bytes))
    }
    /// The cell of the bytes.
    public func _encode(_ batch: RowBatch) -> Cell { ((try? Coder.encode(self)) ?? Data())._encode(batch) }
    /// Refuses what the coder refuses.
    public static func _normalise(_ value: inout Self) -> ValueError? {
        do {
            _ = try Coder.encode(value)
            return nil
        } catch {
            return ValueError(.notStorable, "the coder \(Coder.name) cannot encode the value")
        }
    }
}
