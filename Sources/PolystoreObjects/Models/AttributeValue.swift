public import PolystoreStorage

/// A Swift type that an attribute can have.
///
/// The basic attribute types conform, and so do their optionals and arrays. An enum with a conforming raw value only declares the
/// conformance and `CaseIterable`: `enum Size: String, AttributeValue, CaseIterable { case small, large }`. With `Codable` an enum can be
/// used in `#Predicate`.
public protocol AttributeValue: Sendable {
    /// The stored type.
    static var valueType: ValueType { get }
    /// Whether nil is one of the type's values.
    static var isOptionalAttribute: Bool { get }
    /// The stored values that an enum allows; empty if there is no restriction.
    static var allowedValues: [Value] { get }
    /// The name of the coder of a coded type; nil for other types.
    static var coderName: String? { get }
    /// The value of a property without another value, such as the result of a failed load.
    static var placeholder: Self { get }
    /// The stored form of the value.
    var attributeValue: Value { get }
    /// Creates a value from its stored form; nil if the stored form has another type.
    init?(attributeValue: Value)
    /// Decodes the value of a cell; nil if the cell is malformed.
    static func _decode(_ cell: Cell) -> Self?
    /// Returns the error with which a coded type refuses a cell that its coder can read; nil if the cell is damaged, or the type is not coded.
    static func _decodingError(_ cell: Cell) -> (any Error)?
    /// Encodes the value as a cell. Its bytes are copied into the batch.
    func _encode(_ batch: RowBatch) -> Cell
    /// Normalizes a value to the form that every store can hold, or returns the reason why that is impossible.
    static func _normalise(_ value: inout Self) -> ValueError?
}

extension AttributeValue {
    /// False. Only optionals hold nil.
    @inlinable public static var isOptionalAttribute: Bool { false }
    /// Nil. Most types are not coded.
    public static var coderName: String? { nil }
    /// No restriction.
    public static var allowedValues: [Value] { [] }
    /// Nil. Most types are not coded.
    public static func _decodingError(_ cell: Cell) -> (any Error)? { nil }
    /// Accepts every value unchanged.
    @inlinable @inline(__always)
    public static func _normalise(_ value: inout Self) -> ValueError? { nil }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// The stored type of the wrapped type.
    public static var valueType: ValueType { Wrapped.valueType }
    /// True.
    @inlinable public static var isOptionalAttribute: Bool { true }
    /// The stored values that the wrapped type allows.
    public static var allowedValues: [Value] { Wrapped.allowedValues }
    /// The name of the wrapped type's coder.
    public static var coderName: String? { Wrapped.coderName }
    /// Nil.
    @inlinable public static var placeholder: Self { nil }
    /// The stored form of the wrapped value, or `.null`.
    public var attributeValue: Value { self?.attributeValue ?? .null }
    /// Creates nil from `.null`, and otherwise a wrapped value.
    public init?(attributeValue: Value) {
        if attributeValue.isNull {
            self = nil
        } else if let wrapped = Wrapped(attributeValue: attributeValue) {
            self = wrapped
        } else {
            return nil
        }
    }
    /// Decodes nil from a null cell, and otherwise a wrapped value.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Self? {
        if cell.kind == .null { return .some(nil) }
        guard let wrapped = Wrapped._decode(cell) else { return nil }
        return .some(wrapped)
    }
    /// Returns the error of the wrapped type's coder.
    public static func _decodingError(_ cell: Cell) -> (any Error)? { Wrapped._decodingError(cell) }
    /// Encodes nil as a null cell, and otherwise the wrapped value.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell {
        guard let self else { return .null }
        return self._encode(batch)
    }
    /// Normalizes the wrapped value.
    @inlinable @inline(__always)
    public static func _normalise(_ value: inout Self) -> ValueError? {
        guard var wrapped = value else { return nil }
        if let error = Wrapped._normalise(&wrapped) { return error }
        value = wrapped
        return nil
    }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    /// The stored type of the raw value.
    public static var valueType: ValueType { RawValue.valueType }
    /// The stored form of the raw value.
    public var attributeValue: Value { rawValue.attributeValue }
    /// Returns the case with a raw value; nil if there is none.
    public init?(attributeValue: Value) {
        guard let raw = RawValue(attributeValue: attributeValue) else { return nil }
        self.init(rawValue: raw)
    }
    /// Decodes the case with a raw value; nil if there is none.
    public static func _decode(_ cell: Cell) -> Self? { RawValue._decode(cell).flatMap(Self.init(rawValue:)) }
    /// Encodes the raw value as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { rawValue._encode(batch) }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue, Self: CaseIterable {
    /// The raw values of all cases.
    public static var allowedValues: [Value] { allCases.map(\.attributeValue) }
}

extension AttributeValue where Self: RawRepresentable, Self: CaseIterable {
    /// The first case.
    public static var placeholder: Self { allCases[allCases.startIndex] }
}

/// An option set is stored as its raw value. Every value of the raw type is allowed.
extension AttributeValue where Self: OptionSet {
    /// The empty set.
    public static var placeholder: Self { [] }
}
