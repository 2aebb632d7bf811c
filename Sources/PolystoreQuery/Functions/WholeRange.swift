internal import PolystoreSchema

/// The ranges of whole numbers, from which it follows that a computation cannot fail: the sum of two 32-bit numbers always fits 64 bits, and
/// a constant divisor is not zero.
enum WholeRange {
    /// Returns the range of a function of whole numbers in some ranges; nil if some of these have no result.
    typealias Rule = @Sendable (_ arguments: [ClosedRange<Int64>]) -> ClosedRange<Int64>?

    /// Returns the range of a sum, difference or product, which is nil if it exceeds 64 bits.
    static func of(_ value: @escaping @Sendable (Int128, Int128) -> Int128) -> Rule {
        { ranges in
            var least = Int128.max, greatest = Int128.min
            for a in [ranges[0].lowerBound, ranges[0].upperBound] {
                for b in [ranges[1].lowerBound, ranges[1].upperBound] {
                    let result = value(Int128(a), Int128(b))
                    (least, greatest) = (min(least, result), max(greatest, result))
                }
            }
            guard let low = Int64(exactly: least), let high = Int64(exactly: greatest) else { return nil }
            return low...high
        }
    }
}

extension ClosedRange<Int64> {
    /// All whole numbers of 64 bits.
    static var all: Self { .min ... .max }
}

extension Function {
    /// Whether the function of any whole numbers in these ranges has a result.
    package func staysInRange(_ ranges: [ClosedRange<Int64>]) -> Bool { descriptor.range(ranges) != nil }
}

extension AggregateFunction {
    /// Whether there are values of a type, or objects if there is none, that have no result.
    func canFail(_ type: ValueType?) -> Bool {
        guard descriptor.canFail else { return false }
        switch self {
        // There cannot be so many numbers of 32 bits that their total exceeds 64 bits.
        case .sum: return type != .int16 && type != .int32
        case .average, .median: return !(type?.isInteger ?? false)
        case .standardDeviation, .sampleStandardDeviation, .count, .countDistinct, .minimum, .maximum: return true
        }
    }
}
