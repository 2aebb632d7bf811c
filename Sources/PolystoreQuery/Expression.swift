public import PolystoreSchema

/// What can stand on either side of a comparison, be sorted by, or be asked for by a query; as deep as a `Predicate` at most.
public struct Expression: Sendable, Hashable {
    /// What an expression is at its outermost level.
    public indirect enum Node: Sendable, Hashable {
        /// The value of a property.
        case path(PropertyPath)
        /// A constant.
        case value(Value)
        /// A function of other expressions; nil where an argument is nil, except for `coalesce`.
        case function(Function, [Expression])
        /// The first expression where the condition holds, else the second.
        case conditional(Predicate, Expression, Expression)
        /// An aggregate over the objects that a to-many relationship leads to.
        case related(RelatedAggregate)
        /// An aggregate over the objects of a group; only in a query for values.
        case aggregate(Aggregate)
    }

    /// What it is.
    public let node: Node
    /// The number of levels; one more than `Predicate.deepest` for what is too deep.
    let depth: Int

    init(_ node: Node, below depth: Int = 0) {
        self.depth = min(depth, Predicate.deepest) + 1
        self.node = depth < Predicate.deepest ? node : .value(.null)
    }

    /// Whether it was nested too deep to be kept.
    var isTooDeep: Bool { depth > Predicate.deepest }
}

extension Expression {
    /// The value of a property.
    public static func path(_ path: PropertyPath) -> Expression { Expression(.path(path)) }

    /// A constant.
    public static func value(_ value: Value) -> Expression { Expression(.value(value)) }

    /// A function of other expressions; nil where an argument is nil, except for `coalesce`.
    public static func function(_ function: Function, _ arguments: [Expression]) -> Expression {
        Expression(.function(function, arguments), below: arguments.reduce(0) { max($0, $1.depth) })
    }

    /// The first expression where the condition holds, else the second.
    public static func conditional(_ condition: Predicate, _ a: Expression, _ b: Expression) -> Expression {
        Expression(.conditional(condition, a, b), below: max(condition.depth, a.depth, b.depth))
    }

    /// An aggregate over the objects that a to-many relationship leads to.
    public static func related(_ aggregate: RelatedAggregate) -> Expression {
        Expression(.related(aggregate), below: aggregate.predicate?.depth ?? 0)
    }

    /// An aggregate over the objects of a group; only in a query for values.
    public static func aggregate(_ aggregate: Aggregate) -> Expression {
        Expression(.aggregate(aggregate), below: aggregate.argument?.depth ?? 0)
    }
}

/// An aggregate over related objects: the number of friends, or the greatest age of those who are at home.
public struct RelatedAggregate: Sendable, Hashable {
    /// What is computed.
    public var function: AggregateFunction
    /// Relationships, one of them to-many; nothing else.
    public var relationship: PropertyPath
    /// The property of the objects at the end; nil only for a count of objects.
    public var property: PropertyPath?
    /// Which of the objects count; nil for all.
    public var predicate: Predicate?

    /// An aggregate over related objects.
    public init(
        _ function: AggregateFunction, _ relationship: PropertyPath, _ property: PropertyPath? = nil, where predicate: Predicate? = nil
    ) {
        self.function = function
        self.relationship = relationship
        self.property = property
        self.predicate = predicate
    }
}

/// A function of an expression. Results that a type cannot hold are errors: `arithmeticOverflow`, `divisionByZero`.
public enum Function: Sendable, Hashable {
    /// The sum of two numbers.
    case add
    /// The difference of two numbers.
    case subtract
    /// The product of two numbers.
    case multiply
    /// The quotient of two numbers; of two whole numbers a whole number, towards zero.
    case divide
    /// The remainder of a division, with the sign of the dividend.
    case modulo
    /// The number with the other sign.
    case negate
    /// The number without its sign.
    case absolute
    /// The greatest whole number that is not above.
    case floor
    /// The smallest whole number that is not below.
    case ceiling
    /// The nearest whole number; the one farther from zero of two.
    case round
    /// The bits that two whole numbers both have.
    case bitAnd
    /// The bits that one of two whole numbers has.
    case bitOr
    /// The text in capital letters.
    case uppercase
    /// The text in small letters.
    case lowercase
    /// The text without white space at its ends.
    case trim
    /// The number of Unicode scalars of a text.
    case length
    /// Texts one after the other.
    case concatenate
    /// The text as a comparison with options sees it.
    case folded(TextOptions)
    /// The first of the arguments that is not nil.
    case coalesce
    /// A part of a date in a time zone, by the Gregorian calendar of all years.
    case datePart(DatePart, timeZone: String)

    /// The name in the text form.
    public var name: String {
        switch self {
        case .add: "add"
        case .subtract: "subtract"
        case .multiply: "multiply"
        case .divide: "divide"
        case .modulo: "modulo"
        case .negate: "negate"
        case .absolute: "abs"
        case .floor: "floor"
        case .ceiling: "ceiling"
        case .round: "round"
        case .bitAnd: "bitAnd"
        case .bitOr: "bitOr"
        case .uppercase: "uppercase"
        case .lowercase: "lowercase"
        case .trim: "trim"
        case .length: "length"
        case .concatenate: "concatenate"
        case .folded(let options): "folded[\(options.letters)]"
        case .coalesce: "coalesce"
        case .datePart(let part, _): part.rawValue
        }
    }
}

/// A part of a date.
public enum DatePart: String, Sendable, Hashable, CaseIterable {
    /// The year.
    case year
    /// The month, 1 to 12.
    case month
    /// The day of the month, 1 to 31.
    case day
    /// The hour, 0 to 23.
    case hour
    /// The minute, 0 to 59.
    case minute
    /// The second, 0 to 59.
    case second
    /// The day of the week, 1 for Sunday to 7.
    case weekday
    /// The day of the year, 1 to 366.
    case dayOfYear
}
