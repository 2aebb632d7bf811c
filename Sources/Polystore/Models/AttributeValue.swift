public import PolystoreStorage

/// A Swift type that an attribute can have.
///
/// The types of the contract conform, optionals of them and lists of them too, and enums whose raw value conforms need only say so, and that
/// their cases are known: `enum Size: String, AttributeValue, CaseIterable { case small, large }`. With `Codable` they have a place in
/// `#Predicate`.
public protocol AttributeValue: Sendable {
    /// The stored type.
    static var valueType: ValueType { get }
    /// Whether nil is one of its values.
    static var isOptionalAttribute: Bool { get }
    /// The stored values that an enum allows; empty for no restriction.
    static var allowedValues: [Value] { get }
    /// The name of the coder of a coded type; nil for plain ones.
    static var coderName: String? { get }
    /// The value of a property that has no other: what a failed load returns.
    static var placeholder: Self { get }
    /// The value in its stored form.
    var attributeValue: Value { get }
    /// A value from its stored form; nil if it has another type.
    init?(attributeValue: Value)
    /// The value of a cell; nil if the cell is ill-formed.
    static func _decode(_ cell: Cell) -> Self?
    /// The cell of the value, its bytes copied into the batch.
    func _encode(_ batch: RowBatch) -> Cell
    /// Brings a value into the form that every store can hold, or says why it cannot.
    static func _normalise(_ value: inout Self) -> ValueError?
}

extension AttributeValue {
    /// False: only optionals hold nil.
    @inlinable public static var isOptionalAttribute: Bool { false }
    /// Nil: most types are not coded.
    public static var coderName: String? { nil }
    /// No restriction.
    public static var allowedValues: [Value] { [] }
    /// Takes every value as it is.
    @inlinable @inline(__always)
    public static func _normalise(_ value: inout Self) -> ValueError? { nil }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    /// The stored type of the wrapped one.
    public static var valueType: ValueType { Wrapped.valueType }
    /// True.
    @inlinable public static var isOptionalAttribute: Bool { true }
    /// What the wrapped type allows.
    public static var allowedValues: [Value] { Wrapped.allowedValues }
    /// That of the wrapped type.
    public static var coderName: String? { Wrapped.coderName }
    /// Nil.
    @inlinable public static var placeholder: Self { nil }
    /// The wrapped value in its stored form, or `.null`.
    public var attributeValue: Value { self?.attributeValue ?? .null }
    /// Nil from `.null`, otherwise as the wrapped type does.
    public init?(attributeValue: Value) {
        if attributeValue.isNull {
            self = nil
        } else if let wrapped = Wrapped(attributeValue: attributeValue) {
            self = wrapped
        } else {
            return nil
        }
    }
    /// Nil of a null cell, otherwise as the wrapped type does.
    @inlinable @inline(__always)
    public static func _decode(_ cell: Cell) -> Self? {
        if cell.kind == .null { return .some(nil) }
        guard let wrapped = Wrapped._decode(cell) else { return nil }
        return .some(wrapped)
    }
    /// A null cell of nil, otherwise as the wrapped type does.
    @inlinable @inline(__always)
    public func _encode(_ batch: RowBatch) -> Cell {
        guard let self else { return .null }
        return self._encode(batch)
    }
    /// As the wrapped type does.
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
    /// The raw value in its stored form.
    public var attributeValue: Value { rawValue.attributeValue }
    /// The case of a raw value; nil if there is none.
    public init?(attributeValue: Value) {
        guard let raw = RawValue(attributeValue: attributeValue) else { return nil }
        self.init(rawValue: raw)
    }
    /// The case of a raw value; nil if there is none.
    public static func _decode(_ cell: Cell) -> Self? { RawValue._decode(cell).flatMap(Self.init(rawValue:)) }
    /// The cell of the raw value.
    public func _encode(_ batch: RowBatch) -> Cell { rawValue._encode(batch) }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    /// What tells an enum that it lacks a conformance.
    @available(*, unavailable, message: "an enum conforms to CaseIterable too: enum Size: String, AttributeValue, CaseIterable")
    public static var placeholder: Self { ManagedObject._broken() }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue, Self: CaseIterable {
    /// The raw values of all cases.
    public static var allowedValues: [Value] { allCases.map(\.attributeValue) }
    /// The first case, else whatever the raw value's placeholder stands for.
    public static var placeholder: Self { allCases[allCases.startIndex] }
}

/// A set of options is stored as its raw value; every value of the raw type is allowed.
extension AttributeValue where Self: OptionSet, RawValue: AttributeValue {
    /// The empty set.
    public static var placeholder: Self { [] }
}
