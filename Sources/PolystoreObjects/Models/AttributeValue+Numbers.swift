public import PolystoreStorage

extension Bool: AttributeValue {
    /// `.bool`.
    public static var valueType: ValueType { .bool }
    /// False.
    @inlinable public static var placeholder: Bool { false }
    /// The stored form.
    public var attributeValue: Value { .bool(self) }
    /// Creates a Boolean from its stored form.
    public init?(attributeValue: Value) {
        guard case .bool(let value) = attributeValue else { return nil }
        self = value
    }
    /// Decodes the Boolean of a cell; nil for a number other than 0 and 1.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Bool? { cell.isBool ? cell.bits != 0 : nil }
    /// Encodes the Boolean as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .int(self ? 1 : 0) }
}

extension Int: AttributeValue {
    /// The stored type.
    public static var valueType: ValueType { .int64 }
    /// Zero.
    @inlinable public static var placeholder: Int { 0 }
    /// The stored form.
    public var attributeValue: Value { .int(Int64(self)) }
    /// Creates a number from its stored form; nil if it is out of range.
    public init?(attributeValue: Value) {
        guard case .int(let value) = attributeValue else { return nil }
        self.init(exactly: value)
    }
    /// Decodes the number of a cell.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Int? { Int(truncatingIfNeeded: cell.int) }
    /// Encodes the number as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .int(Int64(self)) }
}

extension Int16: AttributeValue {
    /// The stored type.
    public static var valueType: ValueType { .int16 }
    /// Zero.
    @inlinable public static var placeholder: Int16 { 0 }
    /// The stored form.
    public var attributeValue: Value { .int(Int64(self)) }
    /// Creates a number from its stored form; nil if it is out of range.
    public init?(attributeValue: Value) {
        guard case .int(let value) = attributeValue else { return nil }
        self.init(exactly: value)
    }
    /// Decodes the number of a cell; nil if it is out of range.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Int16? { Int16(exactly: cell.int) }
    /// Encodes the number as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .int(Int64(self)) }
}

extension Int32: AttributeValue {
    /// The stored type.
    public static var valueType: ValueType { .int32 }
    /// Zero.
    @inlinable public static var placeholder: Int32 { 0 }
    /// The stored form.
    public var attributeValue: Value { .int(Int64(self)) }
    /// Creates a number from its stored form; nil if it is out of range.
    public init?(attributeValue: Value) {
        guard case .int(let value) = attributeValue else { return nil }
        self.init(exactly: value)
    }
    /// Decodes the number of a cell; nil if it is out of range.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Int32? { Int32(exactly: cell.int) }
    /// Encodes the number as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .int(Int64(self)) }
}

extension Int64: AttributeValue {
    /// The stored type.
    public static var valueType: ValueType { .int64 }
    /// Zero.
    @inlinable public static var placeholder: Int64 { 0 }
    /// The stored form.
    public var attributeValue: Value { .int(Int64(self)) }
    /// Creates a number from its stored form; nil if it is out of range.
    public init?(attributeValue: Value) {
        guard case .int(let value) = attributeValue else { return nil }
        self.init(exactly: value)
    }
    /// Decodes the number of a cell.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Int64? { Int64(truncatingIfNeeded: cell.int) }
    /// Encodes the number as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .int(Int64(self)) }
}

extension Float: AttributeValue {
    /// The stored type.
    public static var valueType: ValueType { .float }
    /// Zero.
    @inlinable public static var placeholder: Float { 0 }
    /// The stored form.
    public var attributeValue: Value { .double(Double(self)) }
    /// Creates a number from its stored form.
    public init?(attributeValue: Value) {
        guard case .double(let value) = attributeValue else { return nil }
        self.init(value)
    }
    /// Decodes the number of a cell; nil if it is out of range.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Float? { cell.isFloat ? Float(cell.real) : nil }
    /// Encodes the number as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .real(Double(self)) }
    /// Returns an error for NaN and makes -0.0 positive.
    @inlinable @inline(__always)
    public static func _normalise(_ value: inout Float) -> ValueError? {
        if value == 0 { value = 0 }
        return value.isNaN ? ValueError(.notStorable, "NaN cannot be stored") : nil
    }
}

extension Double: AttributeValue {
    /// The stored type.
    public static var valueType: ValueType { .double }
    /// Zero.
    @inlinable public static var placeholder: Double { 0 }
    /// The stored form.
    public var attributeValue: Value { .double(Double(self)) }
    /// Creates a number from its stored form.
    public init?(attributeValue: Value) {
        guard case .double(let value) = attributeValue else { return nil }
        self.init(value)
    }
    /// Decodes the number of a cell; nil for NaN.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Double? { cell.real.isNaN ? nil : cell.real }
    /// Encodes the number as a cell.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell { .real(Double(self)) }
    /// Returns an error for NaN and makes -0.0 positive.
    @inlinable @inline(__always)
    public static func _normalise(_ value: inout Double) -> ValueError? {
        if value == 0 { value = 0 }
        return value.isNaN ? ValueError(.notStorable, "NaN cannot be stored") : nil
    }
}
