internal import PolystoreSchema

/// What an aggregate takes, gives and computes: all that the checker, the parser, the printer and the evaluator know of it.
struct AggregateDescriptor: Sendable {
    /// What the values are.
    enum Kind: Sendable {
        case anything, numbers
        /// Values with an order, which those of coded attributes have not.
        case ordered
    }

    /// The type of the answer.
    enum Result: Sendable {
        case wholeNumber, double
        /// That of the values.
        case ofValues
        /// That of a total of the values: 64 bits of whole numbers.
        case total
        /// That of a mean of the values: decimal of decimals, else double.
        case mean
    }

    typealias Step = @Sendable (_ state: inout Accumulator, _ cell: Cell, _ type: ValueType) throws(QueryError) -> Void
    typealias Answer = @Sendable (_ state: Accumulator, _ type: ValueType) throws(QueryError) -> Value

    /// The name in the text form, behind an `@`.
    let name: String
    /// Whether it can be computed over objects, without a property of theirs.
    var takesObjects = false
    let takes: Kind
    let gives: Result
    /// Whether there are values of the right types for which there is no answer.
    var canFail = false
    /// The answer over nothing; zero is one of the type of the answer.
    let ofNothing: Value
    /// Takes in a cell that is not nil, which the state has counted.
    let add: Step
    /// The answer over one value or more.
    let answer: Answer

    /// The type of the answer over values of a type.
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

    /// The value that stands so to all others.
    static func extreme(_ name: String, _ isBetter: @escaping @Sendable (_ order: Int) -> Bool) -> AggregateDescriptor {
        AggregateDescriptor(
            name: name, takes: .ordered, gives: .ofValues, ofNothing: .null,
            add: { state, cell, type throws(QueryError) in
                let value = try Accumulator.value(cell, type)
                if state.best.isNull || isBetter(value.compare(to: state.best)) { state.best = value }
            },
            answer: { state, _ in state.best })
    }

    /// A standard deviation; nil of no more values than there are degrees of freedom lost.
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
