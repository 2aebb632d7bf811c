public import Foundation
public import PolystoreStorage

extension Date: AttributeValue {
    /// Date.
    public static var valueType: ValueType { .date }
    /// 1970-01-01T00:00:00Z.
    public static var placeholder: Date { Date(timeIntervalSince1970: 0) }
    /// Microseconds since 1970; the nearest bound for dates outside the years 1 to 9999.
    public var attributeValue: Value {
        .date(Microseconds.from(self) ?? (self < Self.placeholder ? Microseconds.minimum : Microseconds.maximum))
    }
    /// A date from its microseconds.
    public init?(attributeValue: Value) {
        guard case .date(let value) = attributeValue else { return nil }
        self = Microseconds.date(value)
    }
    /// The date of a cell; nil outside the years 1 to 9999.
    @inlinable
    public static func _decode(_ cell: Cell) -> Date? { Microseconds.contains(cell.int) ? Microseconds.date(cell.int) : nil }
    /// The cell of the date.
    public func _encode(_ batch: RowBatch) -> Cell { .int(Microseconds.from(self) ?? 0) }
    /// Rounds to the microsecond and refuses dates outside the years 1 to 9999.
    public static func _normalise(_ value: inout Date) -> ValueError? {
        guard let rounded = Microseconds.from(value) else {
            return ValueError(.outOfRange, "dates are stored from the year 1 to the year 9999")
        }
        value = Microseconds.date(rounded)
        return nil
    }
}

extension UUID: AttributeValue {
    /// UUID.
    public static var valueType: ValueType { .uuid }
    /// All bits zero.
    public static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// The stored form.
    public var attributeValue: Value { .uuid(self) }
    /// A UUID from its stored form.
    public init?(attributeValue: Value) {
        guard case .uuid(let value) = attributeValue else { return nil }
        self = value
    }
    /// The UUID of a cell; nil if it has not sixteen bytes.
    public static func _decode(_ cell: Cell) -> UUID? {
        guard let start = cell.bytes.baseAddress, cell.length == 16 else { return cell.isNull ? placeholder : nil }
        return UUID(uuid: start.loadUnaligned(as: uuid_t.self))
    }
    /// The cell of the sixteen bytes.
    public func _encode(_ batch: RowBatch) -> Cell { withUnsafeBytes(of: uuid) { Cell.blob(batch.copy($0), 16) } }
}

extension Data: AttributeValue {
    /// Data.
    public static var valueType: ValueType { .data }
    /// No bytes.
    public static var placeholder: Data { Data() }
    /// The stored form.
    public var attributeValue: Value { .data(self) }
    /// Bytes from their stored form.
    public init?(attributeValue: Value) {
        guard case .data(let value) = attributeValue else { return nil }
        self = value
    }
    /// The bytes of a cell.
    public static func _decode(_ cell: Cell) -> Data? { Data(cell.bytes) }
    /// The cell of the bytes.
    public func _encode(_ batch: RowBatch) -> Cell { withUnsafeBytes { Cell.blob(batch.copy($0), $0.count) } }
}

extension Decimal: AttributeValue {
    /// Decimal.
    public static var valueType: ValueType { .decimal }
    /// Zero.
    public static var placeholder: Decimal { 0 }
    /// The stored form.
    public var attributeValue: Value { .decimal(self) }
    /// A number from its stored form.
    public init?(attributeValue: Value) {
        guard case .decimal(let value) = attributeValue else { return nil }
        self = value
    }
    /// The number of a cell; nil if its bytes are ill-formed.
    public static func _decode(_ cell: Cell) -> Decimal? { cell.isNull ? 0 : DecimalKey.decode(cell.bytes) }
    /// The cell of the number.
    public func _encode(_ batch: RowBatch) -> Cell { batch.cell(for: .decimal(self)) }
    /// Refuses NaN and more than 38 significant digits; trailing zeros are dropped.
    public static func _normalise(_ value: inout Decimal) -> ValueError? {
        do throws(ValueError) {
            if case .decimal(let normal) = try Attribute("", .decimal).normalise(.decimal(value)) { value = normal }
            return nil
        } catch {
            return error
        }
    }
}
