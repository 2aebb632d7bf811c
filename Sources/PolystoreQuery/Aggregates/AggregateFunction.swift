package import PolystoreSchema

/// An aggregate over many values. All except a count of objects skip nil.
public enum AggregateFunction: String, Sendable, Hashable, CaseIterable {
    /// The number of objects, or of values that are not nil.
    case count
    /// The number of different values that are not nil.
    case countDistinct
    /// The total; zero over no values. Integers result in an Int64 or `.arithmeticOverflow`.
    case sum
    /// The mean; nil over no values. A Decimal for decimals, otherwise a Double.
    case average
    /// The minimum; nil over no values.
    case minimum
    /// The maximum; nil over no values.
    case maximum
    /// The standard deviation of the whole population; nil over no values.
    case standardDeviation
    /// The sample standard deviation; nil for fewer than two values.
    case sampleStandardDeviation
    /// The median, for an even number of values the mean of the middle two; nil over no values.
    case median
}

extension AggregateFunction {
    /// The arguments, result and computation of the aggregate. A new aggregate needs a case above, a line here, its SQL in `SQLAggregates`
    /// and the dialects, and its facts.
    var descriptor: AggregateDescriptor {
        switch self {
        case .count: .count
        case .countDistinct: .countDistinct
        case .sum: .sum
        case .average: .average
        case .minimum: .extreme("min") { $0 < 0 }
        case .maximum: .extreme("max") { $0 > 0 }
        case .standardDeviation: .deviation("stddev", degreesLost: 0)
        case .sampleStandardDeviation: .deviation("stddevSample", degreesLost: 1)
        case .median: .median
        }
    }

    /// Returns the type of the result over values of a type.
    package func type(of values: ValueType) -> ValueType { descriptor.type(of: values) }

    /// Returns the result if there is no value of a type.
    package func ofNothing(_ values: ValueType) -> Value { descriptor.ofNothing.number(as: descriptor.type(of: values)) }

    /// Whether the result over no values is nil.
    package var isNilOfNothing: Bool { descriptor.ofNothing.isNull }
}
