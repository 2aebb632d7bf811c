public import Foundation

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

    /// Whether the value is NaN.
    public var isNaN: Bool {
        switch self {
        case .double(let number): number.isNaN
        case .decimal(let number): number.isNaN
        case .null, .bool, .int, .string, .date, .uuid, .data: false
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
        default: false
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
        case (_, _): kind.rawValue - other.kind.rawValue
        }
    }
}

extension String {
    /// Compares two strings by UTF-8 bytes. Returns a negative number, zero, or a positive number.
    public func compareUTF8(to other: String) -> Int {
        let fast = self.utf8.withContiguousStorageIfAvailable { a in
            other.utf8.withContiguousStorageIfAvailable { compareBytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer($0)) }
        }
        if let result = fast ?? nil { return result }
        let a = Array(utf8), b = Array(other.utf8)
        return a.withUnsafeBytes { x in b.withUnsafeBytes { compareBytes(x, $0) } }
    }
}

/// Compares two byte sequences; if one is a prefix of the other, the shorter one comes first. Returns a negative number, zero, or a
/// positive number.
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
    /// The value as JSON, or the size of a data value.
    public var description: String {
        if case .data(let data) = self { return "\(data.count) bytes" }
        return JSONWriter.write(ValueText.json(self))
    }
}
