internal import Foundation
internal import PolystoreSchema

/// The order of two cells of one type.
enum CellOrder {
    /// Negative, zero or positive; nil is the smallest. Decimals are compared by their ordered bytes.
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

    /// The order of two cells of numeric types that may differ; exact. Neither is null.
    static func compareNumbers(_ a: Cell, _ x: ValueType, _ b: Cell, _ y: ValueType) -> Int {
        if x.cellKind == y.cellKind { return compare(a, b) }
        guard let left = Value(a, as: x), let right = Value(b, as: y) else { return 0 }
        return ExactNumber.compare(left, right) ?? 0
    }
}
