internal import PolystoreFoundation
public import PolystoreStorage

/// A `Codable` type that an attribute can have, stored as the bytes of a coder.
///
/// ```swift
/// struct Address: CodedAttributeValue {
///     var street = "", city = ""
///     static var placeholder: Address { Address() }
/// }
/// ```
/// The assignment of a value that the coder cannot encode is refused. Bytes that the coder cannot read are `corrupted`, and those that it
/// can read but that do not fit the type, because the type was changed, are `schemaMismatch`.
public protocol CodedAttributeValue: AttributeValue, Codable {
    /// The coder. JSON by default.
    associatedtype Coder: AttributeCoder = JSONAttributeCoder
}

extension CodedAttributeValue {
    /// `.data`.
    public static var valueType: ValueType { .data }
    /// The name of the coder.
    public static var coderName: String? { Coder.name }
    /// The encoded bytes. Empty for a value that the coder cannot encode, whose assignment is refused.
    public var attributeValue: Value { .data((try? Coder.encode(self)) ?? Data()) }
    /// Decodes a value; nil if the coder cannot decode the bytes.
    public init?(attributeValue: Value) {
        guard case .data(let bytes) = attributeValue, let value = try? Coder.decode(Self.self, from: bytes) else { return nil }
        self = value
    }
    /// Decodes the value of a cell; nil if the coder cannot decode its bytes.
    public static func _decode(_ cell: Cell) -> Self? {
        cell.isNull ? placeholder : try? Coder.decode(Self.self, from: Data(cell.bytes))
    }
    /// Returns the error with which the type refuses the bytes of a cell; nil if the coder itself cannot read them.
    public static func _decodingError(_ cell: Cell) -> (any Error)? { Coder.mismatch(Self.self, Data(cell.bytes)) }
    /// Encodes the value as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { ((try? Coder.encode(self)) ?? Data())._encode(batch) }
    /// Returns an error if the coder cannot encode the value.
    public static func _normalise(_ value: inout Self) -> ValueError? {
        do {
            _ = try Coder.encode(value)
            return nil
        } catch {
            return ValueError(.notStorable, "the coder \(Coder.name) cannot encode the value")
        }
    }
}
