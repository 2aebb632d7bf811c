internal import Foundation
public import Polystore

/// A value of any type together with its encoded bytes, which is the form of coded fields in a row. The field that creates it determines
/// both coders.
public struct CodedBox<V: Codable & Sendable>: AttributeValue {
    /// The value, or nil for bytes that the coder cannot decode.
    public let value: V?
    let bytes: Data

    /// The stored type, `.data`.
    public static var valueType: ValueType { .data }
    /// The name of the coder, `plist`.
    public static var coderName: String? { PropertyListAttributeCoder.name }
    /// A box without a value.
    public static var placeholder: CodedBox { CodedBox(value: nil, bytes: Data()) }
    /// The encoded bytes as a value.
    public var attributeValue: Value { .data(encodedBytes) }
    /// Creates a box from a data value. Returns nil if the coder cannot decode the bytes.
    public init?(attributeValue: Value) {
        guard case .data(let bytes) = attributeValue else { return nil }
        self.init(bytes)
    }

    init(value: V?, bytes: Data) {
        self.value = value
        self.bytes = bytes
    }

    private init?(_ bytes: Data) {
        guard let list = try? PropertyListAttributeCoder.decode([V].self, from: bytes), let value = list.first else { return nil }
        self.init(value: value, bytes: bytes)
    }

    /// Returns the value of a cell, or nil if the coder cannot decode its bytes.
    public static func _decode(_ cell: Cell) -> CodedBox? { cell.isNull ? placeholder : CodedBox(Data(cell.bytes)) }
    /// Returns the error with which the type refuses the bytes of a cell; nil if the coder itself cannot read them.
    public static func _decodingError(_ cell: Cell) -> (any Error)? { PropertyListAttributeCoder.mismatch([V].self, Data(cell.bytes)) }
    /// Returns a cell with the encoded bytes.
    public func _encode(_ batch: RowBatch) -> Cell { encodedBytes._encode(batch) }

    /// The encoded value. The top level of a property list must be a collection, so the value is wrapped in an array.
    private var encodedBytes: Data {
        if !bytes.isEmpty { return bytes }
        return value.flatMap { try? PropertyListAttributeCoder.encode([$0]) } ?? Data()
    }

    /// Encodes the value and keeps the bytes. Returns an error if the coder cannot encode the value.
    public static func _normalise(_ box: inout CodedBox) -> ValueError? {
        guard let value = box.value, let bytes = try? PropertyListAttributeCoder.encode([value]) else {
            return ValueError(.notStorable, "the coder plist cannot encode the value")
        }
        box = CodedBox(value: value, bytes: bytes)
        return nil
    }
}
