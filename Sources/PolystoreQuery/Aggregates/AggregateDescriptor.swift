internal import PolystoreSchema

/// The arguments, result and computation of an aggregate: everything that the checker, the parser, the printer and the evaluator need.
struct AggregateDescriptor: Sendable {
    /// The kind of values that the aggregate accepts.
    enum Kind: Sendable {
        case anything, numbers
        /// Values with an order. Values of coded attributes have none.
        case ordered
    }

    /// The type of the result.
    enum Result: Sendable {
        case wholeNumber, double
        /// The type of the values.
        case ofValues
        /// The type of a total of the values: 64 bits for whole numbers.
        case total
        /// The type of a mean of the values: decimal for decimals, otherwise double.
        case mean
    }

    typealias Step = @Sendable (_ state: inout Accumulator, _ cell: Cell, _ type: ValueType) throws(QueryError) -> Void
    typealias Answer = @Sendable (_ state: Accumulator, _ type: ValueType) throws(QueryError) -> Value

    /// The name in the text form, after an `@`.
    let name: String
    /// Whether it can be computed over objects, without a property.
    var takesObjects = false
    let takes: Kind
    let gives: Result
    /// Whether there are values of valid types that have no result.
    var canFail = false
    /// The result over no values. A zero has the type of the result.
    let ofNothing: Value
    /// Adds a cell that is not nil, which the state has counted.
    let add: Step
    /// The result over one value or more.
    let answer: Answer

    /// Returns the type of the result over values of a type.
    func type(of values: ValueType) -> ValueType {
        switch gives {
        case .wholeNumber: .int64
        case .double: .double
        case .ofValues: values
        case .total: values.isInteger ? .int64 : (values == .decimal ? .decimal : .double)
        case .mean: values == .decimal ? .decimal : .double
        }
    }
}

extension AggregateDescriptor {
    static let count = AggregateDescriptor(
        name: "count", takesObjects: true, takes: .anything, gives: .wholeNumber, ofNothing: .int(0), add: { _, _, _ in },
        answer: { state, _ in .int(state.count) })

    static let countDistinct = AggregateDescriptor(
        name: "distinctCount", takes: .anything, gives: .wholeNumber, ofNothing: .int(0),
        add: { state, cell, type throws(QueryError) in state.distinct.insert(try Accumulator.value(cell, type)) },
        answer: { state, _ in .int(Int64(state.distinct.count)) })

    static let sum = AggregateDescriptor(
        name: "sum", takes: .numbers, gives: .total, canFail: true, ofNothing: .int(0),
        add: { state, cell, type throws(QueryError) in try state.total.add(cell, type) },
        answer: { state, type throws(QueryError) in try state.total.sum(type) })

    static let average = AggregateDescriptor(
        name: "avg", takes: .numbers, gives: .mean, canFail: true, ofNothing: .null,
        add: { state, cell, type throws(QueryError) in try state.total.add(cell, type) },
        answer: { state, type throws(QueryError) in try state.total.mean(type, of: state.count) })

    /// Returns the aggregate of the value that is ordered in this way relative to all others.
    static func extreme(_ name: String, _ isBetter: @escaping @Sendable (_ order: Int) -> Bool) -> AggregateDescriptor {
        AggregateDescriptor(
            name: name, takes: .ordered, gives: .ofValues, ofNothing: .null,
            add: { state, cell, type throws(QueryError) in
                let value = try Accumulator.value(cell, type)
                if state.best.isNull || isBetter(value.compare(to: state.best)) { state.best = value }
            },
            answer: { state, _ in state.best })
    }

    /// Returns a standard deviation, which is nil if there are no more values than lost degrees of freedom.
    static func deviation(_ name: String, degreesLost: Int64) -> AggregateDescriptor {
        AggregateDescriptor(
            name: name, takes: .numbers, gives: .double, canFail: true, ofNothing: .null,
            add: { state, cell, type throws(QueryError) in
                try state.spread.add(try Accumulator.value(cell, type).real ?? 0, count: state.count)
            },
            answer: { state, _ in
                let degrees = state.count - degreesLost
                return degrees > 0 ? .double((state.spread.squares / Double(degrees)).squareRoot()) : .null
            })
    }

    static let median = AggregateDescriptor(
        name: "median", takes: .numbers, gives: .mean, canFail: true, ofNothing: .null,
        add: { state, cell, type throws(QueryError) in state.values.append(try Accumulator.value(cell, type)) },
        answer: { state, _ throws(QueryError) in
            let sorted = state.values.sorted { $0.compare(to: $1) < 0 }
            guard let middle = Accumulator.middle(sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2]) else {
                throw RunningTotal.overflow
            }
            return middle
        })
}
