internal import Foundation
public import PolystoreSchema

/// One aggregate over cells, with the rules of the contract; nil is skipped. Each aggregate uses the part of the state that it needs.
public struct Accumulator {
    private let function: AggregateFunction
    private let type: ValueType?
    private let step: AggregateDescriptor.Step
    /// The number of objects, or of values that are not nil.
    private(set) var count: Int64 = 0
    var total = RunningTotal()
    var spread = RunningSpread()
    var best = Value.null
    var distinct: Set<Value> = []
    /// All values, in any order.
    var values: [Value] = []

    /// An empty aggregate over values of a type; nil for a count of objects.
    public init(_ function: AggregateFunction, type: ValueType?) {
        self.function = function
        self.type = type
        step = function.descriptor.add
    }

    /// Counts an object.
    public mutating func addObject() { count += 1 }

    /// Takes in a cell; nil is skipped.
    public mutating func add(_ cell: Cell) throws(QueryError) {
        guard let type, !cell.isNull else { return }
        count += 1
        let step = step
        try step(&self, cell, type)
    }

    /// The value of the aggregate.
    ///
    /// - Throws: `arithmeticOverflow` when a total left the range of its type.
    public func result() throws(QueryError) -> Value {
        let type = type ?? .int64
        return count == 0 ? function.ofNothing(type) : try function.descriptor.answer(self, type)
    }

    static func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw .illFormed }
        return value
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
        case (_, _): return .null
        }
    }
}
