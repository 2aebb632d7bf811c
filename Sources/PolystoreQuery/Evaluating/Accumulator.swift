internal import Foundation
public import PolystoreSchema

/// One aggregate over cells, with the rules of the contract: nil is skipped, integer totals are exact or overflow, doubles are summed
/// with compensation (Neumaier 1974), decimals exactly.
public struct Accumulator {
    private let function: AggregateFunction
    private let type: ValueType?
    private var count: Int64 = 0
    private var whole: Int128 = 0
    private var sum = 0.0
    private var compensation = 0.0
    private var isNonFinite = false
    private var decimal = DecimalTotal()
    private var best = Value.null
    private var distinct: Set<Value> = []
    /// All values, for a median.
    private var values: [Value] = []
    /// The mean so far and the sum of the squares of the distances from it.
    private var mean = 0.0, squares = 0.0

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
        case .standardDeviation, .sampleStandardDeviation: try addDistance(real(try value(cell, type)))
        case .median: values.append(try value(cell, type))
        }
    }

    private func real(_ value: Value) -> Double {
        switch value {
        case .int(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double(number.description) ?? 0
        case .null, .bool, .string, .date, .uuid, .data: 0
        }
    }

    /// One pass without losing digits (Welford, "Note on a method for calculating corrected sums of squares and products", 1962).
    private mutating func addDistance(_ number: Double) throws(QueryError) {
        let distance = number - mean
        mean += distance / Double(count)
        squares += distance * (number - mean)
        if !squares.isFinite { throw Self.overflow }
    }

    private func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw .illFormed }
        return value
    }

    private mutating func keep(_ cell: Cell, _ type: ValueType, _ isBetter: (Int) -> Bool) throws(QueryError) {
        let value = try value(cell, type)
        if best.isNull || isBetter(value.compare(to: best)) { best = value }
    }

    private mutating func addNumber(_ cell: Cell, _ type: ValueType) throws(QueryError) {
        switch type {
        case .int16, .int32, .int64: whole += Int128(cell.int)
        case .float, .double:
            if cell.real.isNaN { throw .illFormed }
            add(cell.real)
        case .decimal:
            guard let number = DecimalKey.parts(cell.bytes) else { throw .illFormed }
            decimal.add(number)
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
        case .standardDeviation: count == 0 ? .null : .double((squares / Double(count)).squareRoot())
        case .sampleStandardDeviation: count < 2 ? .null : .double((squares / Double(count - 1)).squareRoot())
        case .median: try median()
        }
    }

    private func median() throws(QueryError) -> Value {
        let sorted = values.sorted { $0.compare(to: $1) < 0 }
        if sorted.isEmpty { return .null }
        guard let middle = Self.middle(sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2]) else { throw Self.overflow }
        return middle
    }

    /// The value between two numbers, `null` between two of them; nil where there is none between them.
    public static func middle(_ low: Value, _ high: Value) -> Value? {
        switch (low, high) {
        case (.int(let a), .int(let b)): return .double((Double(a) / 2) + (Double(b) / 2))
        case (.double(let a), .double(let b)):
            let middle = a == b ? a : a / 2 + b / 2
            return middle.isNaN ? nil : .double(middle)
        case (.decimal(let a), .decimal(let b)):
            if a == b { return low }
            return DecimalArithmetic.sum(a, b).flatMap { DecimalArithmetic.quotient($0, 2) }.map(Value.decimal)
        default: return .null
        }
    }

    private func total() throws(QueryError) -> Value {
        switch type {
        case .float, .double: return .double(try real())
        case .decimal: return .decimal(try inRange(decimal.exact))
        case .int16, .int32, .int64, .bool, .string, .date, .uuid, .data, .url, nil:
            guard let total = Int64(exactly: whole) else { throw Self.overflow }
            return .int(total)
        }
    }

    private func average() throws(QueryError) -> Value {
        switch type {
        case .float, .double: return .double(try real() / Double(count))
        case .decimal: return .decimal(try inRange(decimal.exact.flatMap { DecimalArithmetic.quotient($0, Decimal(count)) }))
        case .int16, .int32, .int64, .bool, .string, .date, .uuid, .data, .url, nil: return .double(Double(whole) / Double(count))
        }
    }

    /// The total of doubles; infinities among them are kept unless they cancel to no number.
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
