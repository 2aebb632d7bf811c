/// How a value lies in a `Cell`.
public enum CellKind: UInt8, Sendable, Hashable {
    /// No value.
    case null
    /// A whole number, a bool (0 or 1), a date (microseconds since 1970) or the key of an object.
    case int
    /// A double; a float is widened.
    case real
    /// UTF-8 bytes of a string or a URL.
    case text
    /// Bytes: data, the sixteen of a UUID, the ordered form of a decimal (`DecimalKey`).
    case blob
}

/// The neutral slot that crosses the boundary between a store and everything above it.
///
/// Text and blob cells point at bytes that somebody else owns; they are valid as long as the batch that holds the cell says.
@frozen
public struct Cell {
    /// The bits of the number, or the address of the bytes.
    public var bits: UInt64
    /// The number of bytes of a text or blob.
    public var length: UInt32
    /// The kind.
    public var kind: CellKind

    /// A cell from its parts.
    @inlinable @inline(__always)
    public init(bits: UInt64, length: UInt32, kind: CellKind) {
        self.bits = bits
        self.length = length
        self.kind = kind
    }

    /// No value.
    @inlinable public static var null: Cell { Cell(bits: 0, length: 0, kind: .null) }

    /// A whole number.
    @inlinable @inline(__always)
    public static func int(_ value: Int64) -> Cell { Cell(bits: UInt64(bitPattern: value), length: 0, kind: .int) }

    /// A double.
    @inlinable @inline(__always)
    public static func real(_ value: Double) -> Cell { Cell(bits: value.bitPattern, length: 0, kind: .real) }

    /// Text at an address that outlives the cell.
    @inlinable @inline(__always)
    public static func text(_ bytes: UnsafeRawPointer, _ count: Int) -> Cell {
        Cell(bits: UInt64(UInt(bitPattern: bytes)), length: UInt32(truncatingIfNeeded: count), kind: .text)
    }

    /// Bytes at an address that outlives the cell.
    @inlinable @inline(__always)
    public static func blob(_ bytes: UnsafeRawPointer, _ count: Int) -> Cell {
        Cell(bits: UInt64(UInt(bitPattern: bytes)), length: UInt32(truncatingIfNeeded: count), kind: .blob)
    }

    /// Whether there is no value.
    @inlinable public var isNull: Bool { kind == .null }

    /// The whole number of an `.int` cell.
    @inlinable public var int: Int64 { Int64(bitPattern: bits) }

    /// The double of a `.real` cell.
    @inlinable public var real: Double { Double(bitPattern: bits) }

    /// Whether the number is one of a bool.
    @inlinable public var isBool: Bool { bits <= 1 }

    /// Whether the double is one of a float, rounded or not: a number, and infinite only as itself.
    @inlinable public var isFloat: Bool { abs(real) <= Double(Float.greatestFiniteMagnitude) || real.isInfinite }

    /// The bytes of a text or blob cell; empty for others.
    @inlinable public var bytes: UnsafeRawBufferPointer {
        guard length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(bits)), count: Int(length))
    }
}
