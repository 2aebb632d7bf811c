internal import PolystoreFoundation
internal import PolystoreSchema

/// A function of expressions. Results outside the range of their type are errors: `arithmeticOverflow`, `divisionByZero`.
public enum Function: Sendable, Hashable {
    /// The sum of two numbers.
    case add
    /// The difference of two numbers.
    case subtract
    /// The product of two numbers.
    case multiply
    /// The quotient of two numbers. For two whole numbers it is a whole number, rounded towards zero.
    case divide
    /// The remainder of a division, with the sign of the dividend.
    case modulo
    /// The negated number.
    case negate
    /// The absolute value.
    case absolute
    /// The greatest whole number that is not greater than the number.
    case floor
    /// The smallest whole number that is not smaller than the number.
    case ceiling
    /// The nearest whole number; of two equally near ones, the one farther from zero.
    case round
    /// The bits that are set in both of two whole numbers.
    case bitAnd
    /// The bits that are set in at least one of two whole numbers.
    case bitOr
    /// The text in upper case.
    case uppercase
    /// The text in lower case.
    case lowercase
    /// The text without leading and trailing white space.
    case trim
    /// The number of Unicode scalars of a text.
    case length
    /// The concatenation of texts.
    case concatenate
    /// The text folded by options.
    case folded(TextOptions)
    /// The first argument that is not nil.
    case coalesce
    /// A part of a date in a time zone, by the Gregorian calendar of all years.
    case datePart(DatePart, timeZone: String)
}

extension Function {
    /// The name in the text form.
    public var name: String {
        if case .folded(let options) = self { "folded[\(options.letters)]" } else { descriptor.names[0] }
    }

    /// The functions identified by their names alone, as the text form spells them.
    package static let named: [Function] = [
        .add, .subtract, .multiply, .divide, .modulo, .negate, .absolute, .floor, .ceiling, .round, .bitAnd, .bitOr, .uppercase, .lowercase,
        .trim, .length, .concatenate, .coalesce,
    ]

    /// The arguments, result and computation of the function. A new function needs a case and a place in `named` above, a line here, and
    /// its facts. Engines that compute it as the contract requires get their SQL in `SQLFunction` or their dialect.
    var descriptor: FunctionDescriptor {
        switch self {
        case .add: .sum
        case .subtract: .difference
        case .multiply: .product
        case .divide: .quotient
        case .modulo: .remainder
        case .negate: .negative
        case .absolute: .magnitude
        case .floor: .rounded("floor", .down)
        case .ceiling: .rounded("ceiling", .up)
        // The rule `.plain` of decimals rounds halves away from zero.
        case .round: .rounded("round", .toNearestOrAwayFromZero)
        case .bitAnd: .bits("bitAnd", "&") { $0 & $1 }
        case .bitOr: .bits("bitOr", "|") { $0 | $1 }
        case .uppercase: .text("uppercase") { .string($0.uppercased()) }
        case .lowercase: .text("lowercase") { .string($0.lowercased()) }
        case .trim: .text("trim") { .string($0.trimmed) }
        case .length: .text("length", gives: .wholeNumber, range: 0...(.max)) { .int(Int64($0.unicodeScalars.count)) }
        case .concatenate: .concatenation
        case .folded(let options): .text("folded", parameter: String(options.rawValue)) { .string(TextFolding.fold($0, options)) }
        case .coalesce: .firstOfSome
        case .datePart(let part, let zone): .datePart(part, zone)
        }
    }
}
