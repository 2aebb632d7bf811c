public import PolystoreFoundation
public import PolystoreStorage

extension String: AttributeValue {
    /// `.string`.
    public static var valueType: ValueType { .string }
    /// The empty string.
    @inlinable public static var placeholder: String { "" }
    /// The stored form.
    public var attributeValue: Value { .string(self) }
    /// Creates a string from its stored form.
    public init?(attributeValue: Value) {
        guard case .string(let value) = attributeValue else { return nil }
        self = value
    }
    /// Decodes the string of a cell; nil if its bytes are not UTF-8.
    public static func _decode(_ cell: Cell) -> String? { String(utf8: cell.bytes) }
    /// Encodes the string as a cell.
    public func _encode(_ batch: RowBatch) -> Cell {
        let native = utf8.withContiguousStorageIfAvailable { Cell.text(batch.copy(UnsafeRawBufferPointer($0)), $0.count) }
        if let native { return native }
        var text = self
        return text.withUTF8 { Cell.text(batch.copy(UnsafeRawBufferPointer($0)), $0.count) }
    }
    /// Returns an error for U+0000.
    public static func _normalise(_ value: inout String) -> ValueError? {
        // Bridged strings are converted to native Swift strings here, once.
        let known = value.utf8.withContiguousStorageIfAvailable(hasNull)
        return known ?? value.withUTF8(hasNull) ? ValueError(.notStorable, "text with U+0000 cannot be stored") : nil
    }

    private static func hasNull(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
}

extension URL: AttributeValue {
    /// `.url`.
    public static var valueType: ValueType { .url }
    /// `about:blank`.
    public static var placeholder: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }
    /// The absolute string.
    public var attributeValue: Value { .string(absoluteString) }
    /// Creates a URL from its absolute string.
    public init?(attributeValue: Value) {
        guard case .string(let value) = attributeValue else { return nil }
        self.init(string: value)
    }
    /// Decodes the URL of a cell; nil if its text is not a URL.
    public static func _decode(_ cell: Cell) -> URL? {
        cell.isNull ? placeholder : String._decode(cell).flatMap(URL.init(string:))
    }
    /// Encodes the absolute string as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { absoluteString._encode(batch) }
}
