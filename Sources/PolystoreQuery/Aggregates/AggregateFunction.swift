package import PolystoreSchema

/// What is computed over many values; nil is skipped by all but a count of objects.
public enum AggregateFunction: String, Sendable, Hashable, CaseIterable {
    /// The number of objects, or of values that are not nil.
    case count
    /// The number of different values that are not nil.
    case countDistinct
    /// The total; zero of nothing. Integers give an Int64 or `.arithmeticOverflow`.
    case sum
    /// The mean; nil of nothing. A Decimal of decimals, else a Double.
    case average
    /// The smallest; nil of nothing.
    case minimum
    /// The greatest; nil of nothing.
    case maximum
    /// The standard deviation of the whole population; nil of nothing.
    case standardDeviation
    /// The standard deviation that a sample lets expect; nil of fewer than two values.
    case sampleStandardDeviation
    /// The value in the middle, of an even number the mean of the middle two; nil of nothing.
    case median
}

extension AggregateFunction {
    /// What the aggregate takes, gives and computes. A new aggregate has its case above, its line here, its SQL in `SQLAggregates` and the
    /// dialects, and its facts.
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

    /// The type of the answer over values of a type.
    package func type(of values: ValueType) -> ValueType { descriptor.type(of: values) }

    /// The answer where there is no value of a type.
    package func ofNothing(_ values: ValueType) -> Value { descriptor.ofNothing.number(as: descriptor.type(of: values)) }

    /// Whether the answer over nothing is nil.
    package var isNilOfNothing: Bool { descriptor.ofNothing.isNull }
}
