public import PolystoreFoundation

/// A value of an attribute, or nil, in the form that all stores have in common.
///
/// Values are normalised by the attribute to which they belong (`Attribute.normalise`): integers of all widths are `.int`, `Float` and
/// `Double` are `.double`, URLs are `.string`. Equality and hashing follow the contract of stores: strings by UTF-8 bytes (no canonical
/// equivalence), decimals by numeric value.
public enum Value: Sendable {
    /// The absence of a value.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer, or the primary key of an object as the value of a relationship.
    case int(Int64)
    /// A floating-point number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// A string, or the string of a URL.
    case string(String)
    /// A date in microseconds since 1970-01-01T00:00:00Z.
    case date(Int64)
    /// A UUID.
    case uuid(UUID)
    /// Bytes.
    case data(Data)

    /// Whether the value is `.null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The widest attribute type with values of this case; nil for nil.
    package var type: ValueType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int: .int64
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .uuid: .uuid
        case .data: .data
        }
    }

    /// Whether the value is NaN.
    public var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .null, .bool, .int, .string, .date, .uuid, .data: false
        }
    }

    /// The number of bytes of a text or of data; nil for values that are as large as all others of their type.
    package var byteCount: Int? {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .null, .bool, .int, .double, .decimal, .date, .uuid: nil
        }
    }
}

extension Value: Hashable {
    /// Returns whether two values are equal according to the contract of stores. Values of different cases are never equal.
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.double(let x), .double(let y)): x == y
        case (.decimal(let x), .decimal(let y)): x == y
        case (.string(let x), .string(let y)): x.utf8.count == y.utf8.count && x.compareUTF8(to: y) == 0
        case (.date(let x), .date(let y)): x == y
        case (.uuid(let x), .uuid(let y)): x == y
        case (.data(let x), .data(let y)): x == y
        case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.uuid, _), (.data, _): false
        }
    }

    /// Hashes the content that `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let x): hasher.combine(x)
        case .int(let x), .date(let x): hasher.combine(x)
        case .double(let x): hasher.combine(x)
        case .decimal(let x): hasher.combine(x)
        case .string(let x):
            if x.utf8.withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
                Array(x.utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
            }
        case .uuid(let x): hasher.combine(x)
        case .data(let x): hasher.combine(x)
        }
    }
}

extension Value {
    /// Compares two values of the same type. Returns a negative number, zero, or a positive number. `.null` precedes everything.
    ///
    /// Values of different types are ordered by type, so that the order is total.
    public func compare(to other: Value) -> Int {
        switch (self, other) {
        case (.null, .null): 0
        case (.null, _): -1
        case (_, .null): 1
        case (.bool(let x), .bool(let y)): (x ? 1 : 0) - (y ? 1 : 0)
        case (.int(let x), .int(let y)), (.date(let x), .date(let y)): x < y ? -1 : (x > y ? 1 : 0)
        case (.double(let x), .double(let y)): x < y ? -1 : (x > y ? 1 : 0)
        case (.decimal(let x), .decimal(let y)): x < y ? -1 : (x > y ? 1 : 0)
        case (.string(let x), .string(let y)): x.compareUTF8(to: y)
        case (.uuid(let x), .uuid(let y)): withUnsafeBytes(of: x.uuid) { a in withUnsafeBytes(of: y.uuid) { compareBytes(a, $0) } }
        case (.data(let x), .data(let y)): x.withUnsafeBytes { a in y.withUnsafeBytes { compareBytes(a, $0) } }
        case (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.uuid, _), (.data, _): rank - other.rank
        }
    }

    /// The position of its type among values of different types.
    private var rank: Int { type.flatMap { ValueType.allCases.firstIndex(of: $0) } ?? -1 }
}

extension Value: CustomStringConvertible {
    /// The value as JSON, or the size of a data value.
    public var description: String {
        if case .data(let data) = self { return "\(data.count) bytes" }
        return JSONWriter.write(ValueText.json(self))
    }
}

extension Value {
    /// The value in its natural Swift type; nil for nil.
    package var natural: (any Encodable & Sendable)? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .int(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        case .string(let text): text
        case .date(let microseconds): Microseconds.date(microseconds)
        case .uuid(let id): id
        case .data(let data): data
        }
    }

    /// The value of something in a natural Swift type; nil when it has none.
    package init?(natural value: Any?) {
        switch value {
        case nil: self = .null
        case let text as String: self = .string(text)
        case let number as Int: self = .int(Int64(number))
        case let value as Bool: self = .bool(value)
        case let number as Double: self = .double(number)
        case let value as Value: self = value
        case let number as any BinaryInteger:
            guard let whole = Int64(exactly: number) else { return nil }
            self = .int(whole)
        case let number as Float: self = .double(Double(number))
        case let number as Decimal: self = .decimal(number)
        case let url as URL: self = .string(url.absoluteString)
        case let date as Date:
            guard let microseconds = Microseconds.from(date) else { return nil }
            self = .date(microseconds)
        case let id as UUID: self = .uuid(id)
        case let data as Data: self = .data(data)
        case let raw as any RawRepresentable: self.init(natural: raw.rawValue)
        default: return nil
        }
    }
}
