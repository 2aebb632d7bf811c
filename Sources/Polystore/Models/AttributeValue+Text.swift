public import Foundation
public import PolystoreStorage

extension String: AttributeValue {
    /// String.
    public static var valueType: ValueType { .string }
    /// The empty text.
    @inlinable public static var placeholder: String { "" }
    /// The stored form.
    public var attributeValue: Value { .string(self) }
    /// A text from its stored form.
    public init?(attributeValue: Value) {
        guard case .string(let value) = attributeValue else { return nil }
        self = value
    }
    /// The text of a cell; nil if its bytes are no UTF-8.
    public static func _decode(_ cell: Cell) -> String? { String(utf8: cell.bytes) }
    /// The cell of the text.
    public func _encode(_ batch: RowBatch) -> Cell {
        let native = utf8.withContiguousStorageIfAvailable { Cell.text(batch.copy(UnsafeRawBufferPointer($0)), $0.count) }
        if let native { return native }
        var text = self
        return text.withUTF8 { Cell.text(batch.copy(UnsafeRawBufferPointer($0)), $0.count) }
    }
    /// Refuses U+0000.
    public static func _normalise(_ value: inout String) -> ValueError? {
        // Text of other kinds than Swift's own becomes Swift's own here, once.
        let known = value.utf8.withContiguousStorageIfAvailable(hasNull)
        return known ?? value.withUTF8(hasNull) ? ValueError(.notStorable, "text with U+0000 cannot be stored") : nil
    }

    private static func hasNull(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
}

extension URL: AttributeValue {
    /// URL.
    public static var valueType: ValueType { .url }
    /// `about:blank`.
    public static var placeholder: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }
    /// The absolute string.
    public var attributeValue: Value { .string(absoluteString) }
    /// A URL from its absolute string.
    public init?(attributeValue: Value) {
        guard case .string(let value) = attributeValue else { return nil }
        self.init(string: value)
    }
    /// The URL of a cell; nil if its text is no URL.
    public static func _decode(_ cell: Cell) -> URL? {
        cell.isNull ? placeholder : String._decode(cell).flatMap(URL.init(string:))
    }
    /// The cell of the absolute string.
    public func _encode(_ batch: RowBatch) -> Cell { absoluteString._encode(batch) }
}
