public import PolystoreFoundation
public import PolystoreStorage

extension Date: AttributeValue {
    /// `.date`.
    public static var valueType: ValueType { .date }
    /// 1970-01-01T00:00:00Z.
    public static var placeholder: Date { Date(timeIntervalSince1970: 0) }
    /// Microseconds since 1970. Dates outside the years 1 to 9999 become the nearest bound.
    public var attributeValue: Value {
        .date(Microseconds.from(self) ?? (self < Self.placeholder ? Microseconds.minimum : Microseconds.maximum))
    }
    /// Creates a date from its microseconds.
    public init?(attributeValue: Value) {
        guard case .date(let value) = attributeValue else { return nil }
        self = Microseconds.date(value)
    }
    /// Decodes the date of a cell; nil outside the years 1 to 9999.
    @inlinable
    public static func _decode(_ cell: Cell) -> Date? { Microseconds.contains(cell.int) ? Microseconds.date(cell.int) : nil }
    /// Encodes the date as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { .int(Microseconds.from(self) ?? 0) }
    /// Rounds to the microsecond. Returns an error for dates outside the years 1 to 9999.
    public static func _normalise(_ value: inout Date) -> ValueError? {
        guard let rounded = Microseconds.from(value) else {
            return ValueError(.outOfRange, "dates must be between the years 1 and 9999 to be stored")
        }
        value = Microseconds.date(rounded)
        return nil
    }
}

extension UUID: AttributeValue {
    /// `.uuid`.
    public static var valueType: ValueType { .uuid }
    /// The UUID with all bits zero.
    public static var placeholder: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    /// The stored form.
    public var attributeValue: Value { .uuid(self) }
    /// Creates a UUID from its stored form.
    public init?(attributeValue: Value) {
        guard case .uuid(let value) = attributeValue else { return nil }
        self = value
    }
    /// Decodes the UUID of a cell; nil if the cell does not have 16 bytes.
    public static func _decode(_ cell: Cell) -> UUID? {
        guard let start = cell.bytes.baseAddress, cell.length == 16 else { return cell.isNull ? placeholder : nil }
        return UUID(uuid: start.loadUnaligned(as: uuid_t.self))
    }
    /// Encodes the 16 bytes as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { withUnsafeBytes(of: uuid) { Cell.blob(batch.copy($0), 16) } }
}

extension Data: AttributeValue {
    /// `.data`.
    public static var valueType: ValueType { .data }
    /// Empty data.
    public static var placeholder: Data { Data() }
    /// The stored form.
    public var attributeValue: Value { .data(self) }
    /// Creates data from its stored form.
    public init?(attributeValue: Value) {
        guard case .data(let value) = attributeValue else { return nil }
        self = value
    }
    /// Decodes the bytes of a cell.
    public static func _decode(_ cell: Cell) -> Data? { Data(cell.bytes) }
    /// Encodes the bytes as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { withUnsafeBytes { Cell.blob(batch.copy($0), $0.count) } }
}

extension Decimal: AttributeValue {
    /// `.decimal`.
    public static var valueType: ValueType { .decimal }
    /// Zero.
    public static var placeholder: Decimal { 0 }
    /// The stored form.
    public var attributeValue: Value { .decimal(self) }
    /// Creates a number from its stored form.
    public init?(attributeValue: Value) {
        guard case .decimal(let value) = attributeValue else { return nil }
        self = value
    }
    /// Decodes the number of a cell; nil if its bytes are malformed.
    public static func _decode(_ cell: Cell) -> Decimal? { cell.isNull ? 0 : DecimalKey.decode(cell.bytes) }
    /// Encodes the number as a cell.
    public func _encode(_ batch: RowBatch) -> Cell { batch.cell(for: .decimal(self)) }
    /// Returns an error for NaN and for more than 38 significant digits. Removes trailing zeros.
    public static func _normalise(_ value: inout Decimal) -> ValueError? {
        do throws(ValueError) {
            if case .decimal(let normal) = try Attribute("", .decimal).normalise(.decimal(value)) { value = normal }
            return nil
        } catch {
            return error
        }
    }
}
