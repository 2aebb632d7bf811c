internal import Foundation
internal import PolystoreSchema

/// The meaning of a function: its value for values of its arguments.
struct FunctionEvaluator: Sendable {
    private let function: Function
    private let type: ValueType
    private let zone: TimeZone?

    /// A function whose result has a type.
    init(_ function: Function, _ type: ValueType) {
        self.function = function
        self.type = type
        if case .datePart(_, let name) = function { zone = TimeZone(identifier: name) } else { zone = nil }
    }

    /// The value; nil where an argument is nil, except for `coalesce`.
    func value(_ arguments: [Value]) throws(QueryError) -> Value {
        if case .coalesce = function { return converted(arguments.first { !$0.isNull } ?? .null) }
        if arguments.contains(where: \.isNull) { return .null }
        switch function {
        case .coalesce: return .null
        case .add, .subtract, .multiply, .divide, .modulo: return try arithmetic(converted(arguments[0]), converted(arguments[1]))
        case .negate: return try FunctionEvaluator(.subtract, type).value([.int(0), arguments[0]])
        case .absolute:
            let number = converted(arguments[0])
            return number.compare(to: converted(.int(0))) < 0 ? try FunctionEvaluator(.negate, type).value([number]) : number
        case .floor, .ceiling, .round: return rounded(converted(arguments[0]))
        case .bitAnd, .bitOr:
            guard case .int(let a) = arguments[0], case .int(let b) = arguments[1] else { return .null }
            return .int(function == .bitAnd ? a & b : a | b)
        case .uppercase, .lowercase, .trim, .length, .folded: return text(arguments[0])
        case .concatenate: return .string(arguments.map(Self.string).joined())
        case .datePart(let part, _):
            guard case .date(let microseconds) = arguments[0], let zone else { return .null }
            return .int(Int64(CivilDate(microseconds: microseconds, zone).part(part)))
        }
    }

    private static func string(_ value: Value) -> String { if case .string(let text) = value { text } else { "" } }

    private func text(_ value: Value) -> Value {
        let text = Self.string(value)
        switch function {
        case .uppercase: return .string(text.uppercased())
        case .lowercase: return .string(text.lowercased())
        case .length: return .int(Int64(text.unicodeScalars.count))
        case .folded(let options): return .string(TextFolding.fold(text, options))
        default:
            var scalars = text.unicodeScalars[...]
            while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
            while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
            return .string(String(scalars))
        }
    }

    /// A number in the type of the result.
    private func converted(_ value: Value) -> Value {
        switch (type, value) {
        case (.double, .int(let number)): .double(Double(number))
        case (.double, .decimal(let number)): .double(Double(number.description) ?? 0)
        case (.decimal, .int(let number)): .decimal(Decimal(number))
        default: value
        }
    }

    private func arithmetic(_ a: Value, _ b: Value) throws(QueryError) -> Value {
        switch (a, b) {
        case (.int(let x), .int(let y)): return .int(try whole(x, y))
        case (.double(let x), .double(let y)): return .double(try real(x, y))
        case (.decimal(let x), .decimal(let y)): return .decimal(try decimal(x, y))
        default: return .null
        }
    }

    private var overflow: QueryError { QueryError(.arithmeticOverflow, "the result of \(function.name) leaves the range of its type") }
    private var byZero: QueryError { QueryError(.divisionByZero, "\(function.name) by zero") }

    private func whole(_ x: Int64, _ y: Int64) throws(QueryError) -> Int64 {
        let (result, isOver): (Int64, Bool)
        switch function {
        case .add: (result, isOver) = x.addingReportingOverflow(y)
        case .subtract: (result, isOver) = x.subtractingReportingOverflow(y)
        case .multiply: (result, isOver) = x.multipliedReportingOverflow(by: y)
        default:
            if y == 0 { throw byZero }
            // The least number has no counterpart: its quotient by -1 overflows, its remainder is 0.
            if y == -1, function == .modulo { return 0 }
            (result, isOver) = function == .divide ? x.dividedReportingOverflow(by: y) : x.remainderReportingOverflow(dividingBy: y)
        }
        if isOver { throw overflow }
        return result
    }

    private func real(_ x: Double, _ y: Double) throws(QueryError) -> Double {
        let result: Double
        switch function {
        case .add: result = x + y
        case .subtract: result = x - y
        case .multiply: result = x * y
        default:
            if y == 0 { throw byZero }
            result = function == .divide ? x / y : x.truncatingRemainder(dividingBy: y)
        }
        if result.isNaN || (!result.isFinite && x.isFinite && y.isFinite) { throw overflow }
        return result == 0 ? 0 : result
    }

    private func decimal(_ x: Decimal, _ y: Decimal) throws(QueryError) -> Decimal {
        let result: Decimal?
        switch function {
        case .add: result = DecimalArithmetic.sum(x, y)
        case .subtract: result = DecimalArithmetic.difference(x, y)
        case .multiply: result = DecimalArithmetic.product(x, y)
        default:
            if y == 0 { throw byZero }
            result = function == .divide ? DecimalArithmetic.quotient(x, y) : DecimalArithmetic.remainder(x, y)
        }
        guard let result else { throw overflow }
        return result
    }

    private func rounded(_ value: Value) -> Value {
        switch value {
        case .double(let number):
            let rule: FloatingPointRoundingRule = function == .floor ? .down : (function == .ceiling ? .up : .toNearestOrAwayFromZero)
            let result = number.rounded(rule)
            return .double(result == 0 ? 0 : result)
        case .decimal(let number):
            var source = number, result = Decimal()
            // `.plain` goes away from zero in the middle.
            NSDecimalRound(&result, &source, 0, function == .floor ? .down : (function == .ceiling ? .up : .plain))
            return .decimal(result)
        default: return value
        }
    }
}

/// A date and time of day in a time zone, by the Gregorian calendar of all years.
struct CivilDate {
    private var year = 0, month = 0, day = 0, secondOfDay = 0, days = 0

    /// The date of a moment (Hinnant, "chrono-compatible low-level date algorithms", civil_from_days).
    init(microseconds: Int64, _ zone: TimeZone) {
        let seconds = Int(microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000)
        let local = seconds + zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
        days = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        secondOfDay = local - days * 86_400
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    func part(_ part: DatePart) -> Int {
        switch part {
        case .year: year
        case .month: month
        case .day: day
        case .hour: secondOfDay / 3600
        case .minute: secondOfDay / 60 % 60
        case .second: secondOfDay % 60
        // The first of January 1970 was a Thursday.
        case .weekday: ((days + 4) % 7 + 7) % 7 + 1
        case .dayOfYear: Self.daysBefore[month - 1] + day + (month > 2 && isLeap ? 1 : 0)
        }
    }

    private static let daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
    private var isLeap: Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }
}
