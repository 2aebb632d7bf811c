internal import PolystoreFoundation
package import PolystoreSchema

/// The state of one aggregate over cells, as the contract defines it. Nil is skipped. Each aggregate uses the part of the state that it
/// needs.
package struct Accumulator {
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

    /// Creates an empty aggregate over values of a type, or with nil over objects.
    package init(_ function: AggregateFunction, type: ValueType?) {
        self.function = function
        self.type = type
        step = function.descriptor.add
    }

    /// Counts an object.
    package mutating func addObject() { count += 1 }

    /// Adds a cell. Nil is skipped.
    package mutating func add(_ cell: Cell) throws(QueryError) {
        guard let type, !cell.isNull else { return }
        count += 1
        let step = step
        try step(&self, cell, type)
    }

    /// Returns the value of the aggregate.
    ///
    /// - Throws: `arithmeticOverflow` if a total exceeds the range of its type.
    package func result() throws(QueryError) -> Value {
        let type = type ?? .int64
        return count == 0 ? function.ofNothing(type) : try function.descriptor.answer(self, type)
    }

    static func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw .illFormed }
        return value
    }

    /// Returns the mean of two numbers; nil if it cannot be represented, and `null` for operands that are not two numbers of one kind.
    package static func middle(_ low: Value, _ high: Value) -> Value? {
        switch (low, high) {
        case (.int(let a), .int(let b)): return .double((Double(a) / 2) + (Double(b) / 2))
        case (.double(let a), .double(let b)):
            let middle = a == b ? a : a / 2 + b / 2
            return middle.isNaN ? nil : .double(middle)
        case (.decimal(let a), .decimal(let b)):
            if a == b { return low }
            return DecimalArithmetic.sum(a, b).flatMap { DecimalArithmetic.quotient($0, 2) }.map(Value.decimal)
        case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.uuid, _), (.data, _): return .null
        }
    }
}
