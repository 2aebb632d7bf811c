internal import Foundation
public import Polystore

/// A value of any shape beside its bytes: how coded fields lie in a row. Both coders are fixed by the field that makes it.
public struct CodedBox<V: Codable & Sendable>: AttributeValue {
    /// The value; nil for bytes that the coder cannot read.
    public let value: V?
    let bytes: Data

    /// Data.
    public static var valueType: ValueType { .data }
    /// `plist`.
    public static var coderName: String? { PropertyListAttributeCoder.name }
    /// Nothing.
    public static var placeholder: CodedBox { CodedBox(value: nil, bytes: Data()) }
    /// The bytes.
    public var attributeValue: Value { .data(encodedBytes) }
    /// A value from its bytes.
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

    /// The value of a cell; nil if the coder cannot read its bytes.
    public static func _decode(_ cell: Cell) -> CodedBox? { cell.isNull ? placeholder : CodedBox(Data(cell.bytes)) }
    /// The cell of the bytes.
    public func _encode(_ batch: RowBatch) -> Cell { encodedBytes._encode(batch) }

    /// A property list has a collection at its top, so the value stands in a list.
    private var encodedBytes: Data {
        if !bytes.isEmpty { return bytes }
        return value.flatMap { try? PropertyListAttributeCoder.encode([$0]) } ?? Data()
    }

    /// Refuses what the coder refuses, and keeps the bytes otherwise.
    public static func _normalise(_ box: inout CodedBox) -> ValueError? {
        guard let value = box.value, let bytes = try? PropertyListAttributeCoder.encode([value]) else {
            return ValueError(.notStorable, "the coder plist cannot encode the value")
        }
        box = CodedBox(value: value, bytes: bytes)
        return nil
    }
}
