public import Polystore

/// The values of CoreStore's smallest integer type are stored as `int16`.
extension Int8: AttributeValue {
    /// `.int16`.
    public static var valueType: ValueType { .int16 }
    /// Zero.
    public static var placeholder: Int8 { 0 }
    /// The stored form.
    public var attributeValue: Value { .int(Int64(self)) }
    /// Creates a number from its stored form; nil if it is out of range.
    public init?(attributeValue: Value) {
        guard case .int(let value) = attributeValue else { return nil }
        self.init(exactly: value)
    }
    /// Decodes the number of a cell; nil if it is out of range.
    public static func _decode(_ cell: Cell) -> Int8? { Int8(exactly: cell.int) }
    /// Encodes the number as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { .int(Int64(self)) }
}

extension Int8: NumericAttribute {}
