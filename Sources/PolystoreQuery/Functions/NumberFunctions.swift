internal import PolystoreFoundation
internal import PolystoreSchema

/// Functions of numbers: computed in whole numbers for whole numbers, otherwise in the wider type.
extension FunctionDescriptor {
    static let sum = arithmetic(
        "add", "+", range: WholeRange.of(+), whole: { $0.addingReportingOverflow($1) }, real: { $0 + $1 }, decimal: DecimalArithmetic.sum)
    static let difference = arithmetic(
        "subtract", "-", range: WholeRange.of(-), whole: { $0.subtractingReportingOverflow($1) }, real: { $0 - $1 },
        decimal: DecimalArithmetic.difference)
    static let product = arithmetic(
        "multiply", "*", range: WholeRange.of(*), whole: { $0.multipliedReportingOverflow(by: $1) }, real: { $0 * $1 },
        decimal: DecimalArithmetic.product)
    static let quotient = arithmetic(
        "divide", "/", divides: true, range: { $0[1].contains(0) || $0[1].contains(-1) && $0[0].contains(.min) ? nil : .all },
        whole: { $0.dividedReportingOverflow(by: $1) }, real: { $0 / $1 }, decimal: DecimalArithmetic.quotient)
    static let remainder = arithmetic(
        "modulo", also: "modulus", divides: true, range: { $0[1].contains(0) ? nil : .all },
        // The least number has no positive counterpart: its quotient by -1 overflows, its remainder is 0.
        whole: { $1 == -1 ? (0, false) : $0.remainderReportingOverflow(dividingBy: $1) },
        real: { $0.truncatingRemainder(dividingBy: $1) }, decimal: DecimalArithmetic.remainder)

    static let negative = number("negate", canFail: true, range: allButLeast) { value, type throws(QueryError) in
        try difference.value([.int(0), value], type)
    }

    static let magnitude = number("abs", canFail: true, range: allButLeast) { value, type throws(QueryError) in
        value.compare(to: Value.int(0).number(as: type)) < 0 ? try difference.value([.int(0), value], type) : value
    }

    /// The least number has no positive counterpart.
    private static let allButLeast: WholeRange.Rule = { $0[0].contains(.min) ? nil : .all }

    static func rounded(_ name: String, _ rule: FloatingPointRoundingRule) -> FunctionDescriptor {
        number(name) { value, _ in
            if case .double(let number) = value {
                let result = number.rounded(rule)
                return .double(result == 0 ? 0 : result)
            }
            guard case .decimal(let number) = value else { return value }
            return .decimal(number.rounded(rule))
        }
    }

    static func bits(_ name: String, _ sign: String, _ value: @escaping @Sendable (Int64, Int64) -> Int64) -> FunctionDescriptor {
        FunctionDescriptor(names: [name], sign: sign, count: .exactly(2), takes: .wholeNumbers, gives: .wholeNumber) { arguments, _ in
            guard case .int(let a) = arguments[0], case .int(let b) = arguments[1] else { return .null }
            return .int(value(a, b))
        }
    }

    private static func number(
        _ name: String, canFail: Bool = false, range: @escaping WholeRange.Rule = { _ in .all },
        _ value: @escaping @Sendable (Value, ValueType) throws(QueryError) -> Value
    ) -> FunctionDescriptor {
        FunctionDescriptor(names: [name], count: .exactly(1), takes: .numbers, gives: .ofArguments, canFail: canFail, range: range) {
            arguments, type throws(QueryError) in
            try value(arguments[0].number(as: type), type)
        }
    }

    private static func arithmetic(
        _ name: String, _ sign: String? = nil, also other: String? = nil, divides: Bool = false, range: @escaping WholeRange.Rule,
        whole: @escaping @Sendable (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        real: @escaping @Sendable (Double, Double) -> Double, decimal: @escaping @Sendable (Decimal, Decimal) -> Decimal?
    ) -> FunctionDescriptor {
        @Sendable func overflow() -> QueryError {
            QueryError(.arithmeticOverflow, "the result of \(name) is outside the range of its type")
        }
        @Sendable func checkDivisor(_ isZero: Bool) throws(QueryError) {
            if divides, isZero { throw QueryError(.divisionByZero, "\(name) by zero") }
        }
        @Sendable func wholeNumber(_ x: Int64, _ y: Int64) throws(QueryError) -> Int64 {
            try checkDivisor(y == 0)
            let result = whole(x, y)
            if result.overflow { throw overflow() }
            return result.partialValue
        }
        return FunctionDescriptor(
            names: [name] + (other.map { [$0] } ?? []), sign: sign, count: .exactly(2), takes: .numbers, gives: .ofArguments, canFail: true,
            range: range, whole: wholeNumber
        ) { arguments, type throws(QueryError) in
            switch (arguments[0].number(as: type), arguments[1].number(as: type)) {
            case (.int(let x), .int(let y)): return .int(try wholeNumber(x, y))
            case (.double(let x), .double(let y)):
                try checkDivisor(y == 0)
                let result = real(x, y)
                if result.isNaN || (!result.isFinite && x.isFinite && y.isFinite) { throw overflow() }
                return .double(result == 0 ? 0 : result)
            case (.decimal(let x), .decimal(let y)):
                try checkDivisor(y == 0)
                guard let result = decimal(x, y) else { throw overflow() }
                return .decimal(result)
            case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.uuid, _), (.data, _):
                return .null
            }
        }
    }
}

extension Value {
    /// The number as a double; nil for values that are not numbers.
    var real: Double? { if case .double(let number) = number(as: .double) { number } else { nil } }

    /// Returns a number in the type of a result, and any other value unchanged.
    func number(as type: ValueType) -> Value {
        switch (type, self) {
        case (.double, .int(let number)): .double(Double(number))
        case (.double, .decimal(let number)): .double(Double(number.description) ?? 0)
        case (.decimal, .int(let number)): .decimal(Decimal(number))
        case (.bool, _), (.int16, _), (.int32, _), (.int64, _), (.float, _), (.double, _), (.decimal, _), (.string, _), (.date, _),
            (.uuid, _), (.data, _), (.url, _):
            self
        }
    }
}
