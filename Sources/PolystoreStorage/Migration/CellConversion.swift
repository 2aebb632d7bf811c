internal import PolystoreFoundation

/// The conversion of a cell's value to another type.
enum CellConversion {
    case none
    case ranged(ClosedRange<Int64>)
    case intToReal
    case intToDecimal

    /// Creates the conversion between two types. Returns nil if values are not converted automatically.
    init?(from before: ValueType, to after: ValueType) {
        if before == after {
            self = .none
            return
        }
        if before.narrower.contains(after) {
            self = .ranged(after.range)
            return
        }
        guard before.wider.contains(after) else { return nil }
        if before.cellKind == after.cellKind {
            self = .none
        } else if before.isInteger, after.base == .double {
            self = .intToReal
        } else if before.isInteger, after == .decimal {
            self = .intToDecimal
        } else {
            return nil
        }
    }

    /// Whether the cell of every value is the same in both types.
    var isIdentity: Bool { if case .none = self { true } else { false } }

    /// Returns the cell in the other type, with its bytes in the batch. Returns nil if the value is out of range.
    @inline(__always)
    func apply(_ cell: Cell, _ batch: RowBatch) -> Cell? {
        switch self {
        case .none: cell
        case .ranged(let range): range.contains(cell.int) ? cell : nil
        case .intToReal: .real(Double(cell.int))
        case .intToDecimal: batch.cell(for: .decimal(Decimal(cell.int)))
        }
    }
}
