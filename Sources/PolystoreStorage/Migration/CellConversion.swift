internal import Foundation

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
        switch (before, after) {
        case (.int16, .int32), (.int16, .int64), (.int32, .int64), (.float, .double), (.url, .string): self = .none
        case (.int32, .int16), (.int64, .int16): self = .ranged(Int64(Int16.min)...Int64(Int16.max))
        case (.int64, .int32): self = .ranged(Int64(Int32.min)...Int64(Int32.max))
        case (.int16, .float), (.int16, .double), (.int32, .double): self = .intToReal
        case (.int16, .decimal), (.int32, .decimal), (.int64, .decimal): self = .intToDecimal
        default: return nil
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
