/// The store-independent form of a value that is passed between a store and the layers above.
///
/// Text and blob cells point to bytes that they do not own. The bytes are valid as long as the batch that contains the cell specifies.
@frozen
public struct Cell {
    /// The bits of the number, or the address of the bytes.
    public var bits: UInt64
    /// The number of bytes of a text or blob cell.
    public var length: UInt32
    /// The kind of the cell.
    public var kind: CellKind

    /// Creates a cell from its parts.
    @inlinable @inline(__always)
    public init(bits: UInt64, length: UInt32, kind: CellKind) {
        self.bits = bits
        self.length = length
        self.kind = kind
    }

    /// A cell without a value.
    @inlinable public static var null: Cell { Cell(bits: 0, length: 0, kind: .null) }

    /// Returns a cell with an integer.
    @inlinable @inline(__always)
    public static func int(_ value: Int64) -> Cell { Cell(bits: UInt64(bitPattern: value), length: 0, kind: .int) }

    /// Returns a cell with a double-precision number.
    @inlinable @inline(__always)
    public static func real(_ value: Double) -> Cell { Cell(bits: value.bitPattern, length: 0, kind: .real) }

    /// Returns a text cell. The bytes at the address must outlive the cell.
    @inlinable @inline(__always)
    public static func text(_ bytes: UnsafeRawPointer, _ count: Int) -> Cell {
        Cell(bits: UInt64(UInt(bitPattern: bytes)), length: UInt32(truncatingIfNeeded: count), kind: .text)
    }

    /// Returns a blob cell. The bytes at the address must outlive the cell.
    @inlinable @inline(__always)
    public static func blob(_ bytes: UnsafeRawPointer, _ count: Int) -> Cell {
        Cell(bits: UInt64(UInt(bitPattern: bytes)), length: UInt32(truncatingIfNeeded: count), kind: .blob)
    }

    /// Whether there is no value.
    @inlinable public var isNull: Bool { kind == .null }

    /// The integer of an `.int` cell.
    @inlinable public var int: Int64 { Int64(bitPattern: bits) }

    /// The double-precision number of a `.real` cell.
    @inlinable public var real: Double { Double(bitPattern: bits) }

    /// Whether the number is a valid Boolean.
    @inlinable public var isBool: Bool { bits <= 1 }

    /// Whether the number is within the range of `Float`, rounded or not: not NaN, and infinite only if the number itself is infinite.
    @inlinable public var isFloat: Bool { abs(real) <= Double(Float.greatestFiniteMagnitude) || real.isInfinite }

    /// The bytes of a text or blob cell. Empty for other cells.
    @inlinable public var bytes: UnsafeRawBufferPointer {
        guard length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(bits)), count: Int(length))
    }
}
