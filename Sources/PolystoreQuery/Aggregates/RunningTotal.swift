internal import PolystoreFoundation
internal import PolystoreSchema

/// A total of numbers of one type: whole numbers and decimals exactly, doubles with compensation (Neumaier 1974).
struct RunningTotal {
    private var whole: Int128 = 0
    private var sum = 0.0
    private var compensation = 0.0
    private var isNonFinite = false
    private var decimal = DecimalTotal()

    static var overflow: QueryError { QueryError(.arithmeticOverflow, "the total is outside the range of its type") }

    mutating func add(_ cell: Cell, _ type: ValueType) throws(QueryError) {
        // The checker accepts only numbers here.
        switch type.cellKind {
        case .int: whole += Int128(cell.int)
        case .real:
            if cell.real.isNaN { throw .illFormed }
            add(cell.real)
        case .blob:
            guard let number = DecimalKey.parts(cell.bytes) else { throw .illFormed }
            decimal.add(number)
        case .text, .null: return
        }
    }

    private mutating func add(_ number: Double) {
        if !number.isFinite { isNonFinite = true }
        let total = sum + number
        compensation += abs(sum) >= abs(number) ? (sum - total) + number : (number - total) + sum
        sum = total
    }

    func sum(_ type: ValueType) throws(QueryError) -> Value {
        switch type.cellKind {
        case .real: return .double(try real())
        case .blob: return .decimal(try inRange(decimal.exact))
        case .int, .text, .null:
            guard let total = Int64(exactly: whole) else { throw Self.overflow }
            return .int(total)
        }
    }

    func mean(_ type: ValueType, of count: Int64) throws(QueryError) -> Value {
        switch type.cellKind {
        case .real: return .double(try real() / Double(count))
        case .blob: return .decimal(try inRange(decimal.exact.flatMap { DecimalArithmetic.quotient($0, Decimal(count)) }))
        case .int, .text, .null: return .double(Double(whole) / Double(count))
        }
    }

    /// Returns the total of doubles. Infinities among them are kept unless their sum is not a number.
    private func real() throws(QueryError) -> Double {
        let total = isNonFinite ? sum : sum + compensation
        if total.isNaN || (!total.isFinite && !isNonFinite) { throw Self.overflow }
        return total == 0 ? 0 : total
    }

    private func inRange(_ number: Decimal?) throws(QueryError) -> Decimal {
        guard let number else { throw Self.overflow }
        return number
    }
}
