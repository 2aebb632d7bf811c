internal import Foundation
public import PolystoreSchema

/// One aggregate over cells, with the rules of the contract: nil is skipped, integer totals are exact or overflow, doubles are summed
/// with compensation (Neumaier 1974), decimals exactly.
public struct Accumulator: Sendable {
    private let function: AggregateFunction
    private let type: ValueType?
    private var count: Int64 = 0
    private var whole: Int128 = 0
    private var sum = 0.0
    private var compensation = 0.0
    private var isNonFinite = false
    private var decimal = Decimal(0)
    private var best = Value.null
    private var distinct: Set<Value> = []

    /// An empty aggregate over values of a type; nil for a count of objects.
    public init(_ function: AggregateFunction, type: ValueType?) {
        self.function = function
        self.type = type
    }

    /// Counts an object.
    public mutating func addObject() { count += 1 }

    /// Takes in a cell; nil is skipped.
    public mutating func add(_ cell: Cell) throws(QueryError) {
        guard let type, !cell.isNull else { return }
        count += 1
        switch function {
        case .count: return
        case .countDistinct: distinct.insert(try value(cell, type))
        case .sum, .average: try addNumber(cell, type)
        case .minimum: try keep(cell, type) { $0 < 0 }
        case .maximum: try keep(cell, type) { $0 > 0 }
        }
    }

    private func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw QueryError("a value has ill-formed bytes") }
        return value
    }

    private mutating func keep(_ cell: Cell, _ type: ValueType, _ isBetter: (Int) -> Bool) throws(QueryError) {
        let value = try value(cell, type)
        if best.isNull || isBetter(value.compare(to: best)) { best = value }
    }

    private mutating func addNumber(_ cell: Cell, _ type: ValueType) throws(QueryError) {
        switch type {
        case .int16, .int32, .int64: whole += Int128(cell.int)
        case .float, .double: add(cell.real)
        case .decimal:
            guard case .decimal(let number) = try value(cell, type) else { return }
            var a = decimal, b = number, result = Decimal()
            if NSDecimalAdd(&result, &a, &b, .plain) != .noError { throw Self.overflow }
            decimal = result
        case .bool, .string, .date, .uuid, .data, .url: return
        }
    }

    private mutating func add(_ number: Double) {
        if !number.isFinite { isNonFinite = true }
        let total = sum + number
        compensation += abs(sum) >= abs(number) ? (sum - total) + number : (number - total) + sum
        sum = total
    }

    private static var overflow: QueryError { QueryError(.arithmeticOverflow, "the total leaves the range of its type") }

    /// The value of the aggregate.
    ///
    /// - Throws: `arithmeticOverflow` when a total left the range of its type.
    public func result() throws(QueryError) -> Value {
        switch function {
        case .count: .int(count)
        case .countDistinct: .int(Int64(distinct.count))
        case .minimum, .maximum: best
        case .sum: try total()
        case .average: count == 0 ? .null : try average()
        }
    }

    private func total() throws(QueryError) -> Value {
        switch type {
        case .float, .double: return .double(try real())
        case .decimal: return .decimal(try rounded(decimal))
        case .int16, .int32, .int64, .bool, .string, .date, .uuid, .data, .url, nil:
            guard let total = Int64(exactly: whole) else { throw Self.overflow }
            return .int(total)
        }
    }

    private func average() throws(QueryError) -> Value {
        switch type {
        case .float, .double: return .double(try real() / Double(count))
        case .decimal: return .decimal(try rounded(decimal / Decimal(count)))
        case .int16, .int32, .int64, .bool, .string, .date, .uuid, .data, .url, nil: return .double(Double(whole) / Double(count))
        }
    }

    /// The total of doubles; infinities among them are kept unless they cancel to no number.
    private func real() throws(QueryError) -> Double {
        let total = isNonFinite ? sum : sum + compensation
        if total.isNaN || (!total.isFinite && !isNonFinite) { throw Self.overflow }
        return total == 0 ? 0 : total
    }

    private func rounded(_ number: Decimal) throws(QueryError) -> Decimal {
        if number.isNaN { throw Self.overflow }
        return number
    }
}
