internal import PolystoreFoundation
internal import PolystoreSchema

/// The order of two cells of one type.
enum CellOrder {
    /// Returns a negative number, zero or a positive number. Nil is the smallest. Decimals are compared by their ordered bytes.
    @inline(__always)
    static func compare(_ a: Cell, _ b: Cell) -> Int {
        if a.kind == .null || b.kind == .null { return (a.kind == .null ? 0 : 1) - (b.kind == .null ? 0 : 1) }
        switch a.kind {
        case .null: return 0
        case .int: return a.int < b.int ? -1 : (a.int > b.int ? 1 : 0)
        case .real: return a.real < b.real ? -1 : (a.real > b.real ? 1 : 0)
        case .text, .blob: return compareBytes(a.bytes, b.bytes)
        }
    }

    /// Returns a number that is smaller for one cell than for another of its type only if the cell is smaller: its first 63 bits in order,
    /// above nil.
    @inline(__always)
    static func prefix(_ cell: Cell) -> UInt64 {
        let bits: UInt64
        switch cell.kind {
        case .null: return 0
        case .int: bits = cell.bits ^ 1 << 63
        case .real: bits = cell.bits >> 63 == 0 ? cell.bits ^ 1 << 63 : ~cell.bits
        case .text, .blob:
            var word: UInt64 = 0
            if cell.length >= 8, let start = cell.bytes.baseAddress {
                word = start.loadUnaligned(as: UInt64.self).bigEndian
            } else {
                for (index, byte) in cell.bytes.enumerated() { word |= UInt64(byte) &<< UInt64(56 - 8 * index) }
            }
            bits = word
        }
        return 1 << 63 | bits >> 1
    }

    /// Returns the exact order of two cells of numeric types that may differ; nil if one is invalid for its type. Neither is null.
    static func compareNumbers(_ a: Cell, _ x: ValueType, _ b: Cell, _ y: ValueType) -> Int? {
        if x.cellKind == y.cellKind { return a.isNoNumber(x) || b.isNoNumber(y) ? nil : compare(a, b) }
        guard let left = Value(a, as: x), let right = Value(b, as: y) else { return nil }
        return ExactNumber.compare(left, right)
    }
}

extension Cell {
    /// Whether a store has returned the cell for a number that no attribute can have: NaN, or a decimal without bytes. Neither has an order.
    @inline(__always)
    func isNoNumber(_ type: ValueType) -> Bool {
        switch kind {
        case .real: real.isNaN
        case .blob: length == 0 && type == .decimal
        case .null, .int, .text: false
        }
    }
}
