internal import Foundation
internal import PolystoreStorage

/// Functions of expressions. An error is unknown here.
extension ReferenceStore {
    func apply(_ function: Function, _ values: [Value]) -> Value {
        switch function {
        case .folded(let options): return text(values[0]) { .string(Self.folded($0, options)) }
        case .uppercase: return text(values[0]) { .string($0.uppercased()) }
        case .lowercase: return text(values[0]) { .string($0.lowercased()) }
        case .trim: return text(values[0]) { .string($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        case .length: return text(values[0]) { .int(Int64($0.unicodeScalars.count)) }
        case .concatenate: return .string(values.map { if case .string(let text) = $0 { text } else { "" } }.joined())
        case .floor, .ceiling, .round: return rounded(function, values[0])
        case .negate: return negated(values[0])
        case .absolute: return Self.order(values[0], .int(0)) < 0 ? negated(values[0]) : values[0]
        case .datePart(let part, let zone):
            guard case .date(let date) = values[0], zone == "UTC" else { return unknown() }
            return .int(ReferenceDate(date)[part])
        case .add, .subtract, .multiply, .divide, .modulo, .bitAnd, .bitOr:
            return values.count == 2 ? arithmetic(function, values[0], values[1]) : .null
        // The first value that is not nil needs no computation.
        case .coalesce: return .null
        }
    }

    private func text(_ value: Value, _ body: (String) -> Value) -> Value {
        if case .string(let text) = value { body(text) } else { .null }
    }

    private static func folded(_ source: String, _ options: TextOptions) -> String {
        var text = source
        if options.contains(.diacriticInsensitive) {
            // Foundation's folding keeps a combining mark that stands alone.
            let decomposed = text.decomposedStringWithCanonicalMapping.unicodeScalars
            text = String(String.UnicodeScalarView(decomposed.filter { $0.properties.generalCategory != .nonspacingMark }))
        }
        // Foundation's folding tables: the cases use only letters that Polystore folds in the same way.
        return options.contains(.caseInsensitive) ? text.lowercased() : text
    }

    // MARK: Numbers

    private func negated(_ value: Value) -> Value {
        switch value {
        case .int(let number): number == .min ? unknown() : .int(-number)
        case .double(let number): .double(-number)
        case .decimal(let number): .decimal(number == 0 ? 0 : -number)
        case .null, .bool, .string, .date, .uuid, .data: .null
        }
    }

    private func rounded(_ function: Function, _ value: Value) -> Value {
        switch value {
        case .double(let number):
            let rule: FloatingPointRoundingRule = function == .floor ? .down : (function == .ceiling ? .up : .toNearestOrAwayFromZero)
            return .double(number.rounded(rule))
        case .decimal(let number): return .decimal(Self.rounded(function, number))
        case .null, .bool, .int, .string, .date, .uuid, .data: return value
        }
    }

    /// Returns a whole number by the digits of a decimal.
    private static func rounded(_ function: Function, _ number: Decimal) -> Decimal {
        let isNegative = number < 0, parts = "\(abs(number))".split(separator: ".")
        guard parts.count > 1, parts[1].contains(where: { $0 != "0" }), let whole = Decimal(string: String(parts[0])) else { return number }
        let isUp = function == .floor ? isNegative : (function == .ceiling ? !isNegative : parts[1].first ?? "0" >= "5")
        let magnitude = isUp ? whole + 1 : whole
        return isNegative && magnitude != 0 ? -magnitude : magnitude
    }

    private func arithmetic(_ function: Function, _ a: Value, _ b: Value) -> Value {
        switch (a, b) {
        case (.int(let x), .int(let y)):
            return wholes(function, Int128(x), Int128(y)).flatMap(Int64.init(exactly:)).map(Value.int) ?? unknown()
        case (.decimal(let x), .decimal(let y)): return decimals(function, x, y)
        case (.decimal(let x), .int(let y)): return decimals(function, x, Decimal(y))
        case (.int(let x), .decimal(let y)): return decimals(function, Decimal(x), y)
        case (_, _):
            guard let x = real(a), let y = real(b) else { return .null }
            guard let result = reals(function, x, y) else { return unknown() }
            return result.isFinite || !result.isNaN && !(x.isFinite && y.isFinite) ? .double(result) : unknown()
        }
    }

    private func wholes(_ function: Function, _ x: Int128, _ y: Int128) -> Int128? {
        switch function {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: y == 0 ? nil : x / y
        case .modulo: y == 0 ? nil : x % y
        case .bitAnd: x & y
        case .bitOr: x | y
        case .negate, .absolute, .floor, .ceiling, .round, .uppercase, .lowercase, .trim, .length, .concatenate, .folded, .coalesce,
            .datePart:
            nil
        }
    }

    private func decimals(_ function: Function, _ x: Decimal, _ y: Decimal) -> Value {
        // Foundation rounds numbers with more digits differently from the contract.
        if [x, y].contains(where: { $0.significand.description.count > 15 }) || abs(x) > 1_000_000 || abs(y) > 1_000_000 {
            return unknown()
        }
        switch function {
        case .add: return .decimal(Self.rounded(x + y))
        case .subtract: return .decimal(Self.rounded(x - y))
        case .multiply: return .decimal(Self.rounded(x * y))
        case .divide: return y == 0 ? unknown() : .decimal(Self.rounded(x / y))
        case .modulo, .bitAnd, .bitOr, .negate, .absolute, .floor, .ceiling, .round, .uppercase, .lowercase, .trim, .length, .concatenate,
            .folded, .coalesce, .datePart:
            return unknown()
        }
    }

    private func reals(_ function: Function, _ x: Double, _ y: Double) -> Double? {
        switch function {
        case .add: x + y
        case .subtract: x - y
        case .multiply: x * y
        case .divide: y == 0 ? nil : x / y
        case .modulo: y == 0 ? nil : fmod(x, y)
        case .bitAnd, .bitOr, .negate, .absolute, .floor, .ceiling, .round, .uppercase, .lowercase, .trim, .length, .concatenate, .folded,
            .coalesce, .datePart:
            nil
        }
    }

    private func real(_ value: Value) -> Double? {
        switch value {
        case .double(let number): number
        case .int(let number): Double(number)
        case .decimal(let number): Double("\(number)")
        case .null, .bool, .string, .date, .uuid, .data: nil
        }
    }

    // MARK: Types

    /// Returns the type of the values of an expression about objects of an entity.
    func type(_ expression: QueryExpression, of entity: String) -> ValueType {
        switch expression.node {
        case .path(let path), .outer(_, let path): type(path, of: entity)
        case .value(let value): value.type ?? .int64
        case .variable: .int64
        case .conditional(_, let a, let b): widest([a, b], of: entity)
        case .related(let aggregate):
            aggregate.property.map { type(PropertyPath(aggregate.relationship.names + $0.names), of: entity) } ?? .int64
        case .aggregate(let aggregate): aggregate.argument.map { type($0, of: entity) } ?? .int64
        case .function(let function, let arguments): type(function, arguments, of: entity)
        }
    }

    private func type(_ function: Function, _ arguments: [QueryExpression], of entity: String) -> ValueType {
        switch function {
        case .uppercase, .lowercase, .trim, .concatenate, .folded: .string
        case .length, .datePart, .bitAnd, .bitOr: .int64
        case .add, .subtract, .multiply, .divide, .modulo, .negate, .absolute, .floor, .ceiling, .round, .coalesce:
            widest(arguments, of: entity)
        }
    }

    private func widest(_ expressions: [QueryExpression], of entity: String) -> ValueType {
        let types = expressions.map { type($0, of: entity) }
        if types.contains(.double) || types.contains(.float) { return .double }
        return types.contains(.decimal) ? .decimal : types[0]
    }
}

/// The parts of a date in UTC, by counting years and months from 1970.
struct ReferenceDate {
    private let parts: [DatePart: Int64]

    init(_ microseconds: Int64) {
        let second = Self.quotient(microseconds, 1_000_000), days = Self.quotient(second, 86_400), time = second - days * 86_400
        // The calendar repeats itself after 146,097 days, which are 400 years.
        let cycles = Self.quotient(days, 146_097)
        var year = 1970 + 400 * cycles, rest = days - cycles * 146_097, month = 0
        while rest >= Self.days(year) {
            rest -= Self.days(year)
            year += 1
        }
        let dayOfYear = rest + 1
        while rest >= Self.days(year, month) {
            rest -= Self.days(year, month)
            month += 1
        }
        parts = [
            .year: year, .month: Int64(month + 1), .day: rest + 1, .hour: time / 3_600, .minute: time % 3_600 / 60, .second: time % 60,
            // The first of January 1970 was a Thursday, the fifth day of a week.
            .weekday: (4 + days - 7 * Self.quotient(days + 4, 7)) + 1, .dayOfYear: dayOfYear,
        ]
    }

    subscript(part: DatePart) -> Int64 { parts[part] ?? 0 }

    /// Returns a quotient rounded down.
    private static func quotient(_ number: Int64, _ divisor: Int64) -> Int64 {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 400 == 0 || year % 4 == 0 && year % 100 != 0 }

    private static func days(_ year: Int64) -> Int64 { isLeap(year) ? 366 : 365 }

    private static func days(_ year: Int64, _ month: Int) -> Int64 {
        [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }
}
