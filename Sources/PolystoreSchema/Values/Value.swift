public import Foundation

/// One value of an attribute, or nil, in the form in which every store agrees on it.
///
/// Values are normalised when they are made from an attribute (`Attribute.normalise`): integers of all widths are `.int`, `Float` and
/// `Double` are `.double`, URLs are `.string`. Equality and hashing are those of the contract: text by UTF-8 bytes (no canonical
/// equivalence), decimals by number.
public enum Value: Sendable {
    /// No value.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number; also the key of an object where a relationship is meant.
    case int(Int64)
    /// A floating point number.
    case double(Double)
    /// A decimal number.
    case decimal(Decimal)
    /// Text, also of a URL.
    case string(String)
    /// Microseconds since 1970-01-01T00:00:00Z.
    case date(Int64)
    /// Sixteen bytes.
    case uuid(UUID)
    /// Bytes.
    case data(Data)

    /// Whether there is no value.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// Whether it is a number that is none.
    public var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .null, .bool, .int, .string, .date, .uuid, .data: false
        }
    }
}

extension Value: Hashable {
    /// Equality of the contract; values of different cases are different, except that nothing but `.null` equals `.null`.
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
        default: false
        }
    }

    /// Feeds what `==` compares.
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
    /// The order of two values of the same type: negative, zero or positive; nil comes before everything.
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
        default: rank - other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int: 2
        case .double: 3
        case .decimal: 4
        case .string: 5
        case .date: 6
        case .uuid: 7
        case .data: 8
        }
    }
}

extension String {
    /// The order by UTF-8 bytes: negative, zero or positive.
    public func compareUTF8(to other: String) -> Int {
        let fast = self.utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer($0)) }
        }
        if let result = fast ?? nil { return result }
        let a = Array(utf8), b = Array(other.utf8)
        return a.withUnsafeBytes { x in b.withUnsafeBytes { compareBytes(x, $0) } }
    }
}

/// The order of two byte sequences, the shorter first on a tie: negative, zero or positive.
@inlinable
public func compareBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let shared = Swift.min(a.count, b.count)
    if shared > 0, let x = a.baseAddress, let y = b.baseAddress {
        let order = memcmp(x, y, shared)
        if order != 0 { return Int(order) }
    }
    return a.count - b.count
}

extension Value: CustomStringConvertible {
    /// The value as JSON; data by its size.
    public var description: String {
        if case .data(let data) = self { return "\(data.count) bytes" }
        return JSONWriter.write(ValueText.json(self))
    }
}
