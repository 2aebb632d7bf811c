/// The scalars accepted at one position of a pattern.
package struct ScalarClass: Sendable {
    var ranges: [ClosedRange<UInt32>] = []
    var nested: [ScalarClass] = []
    var isNegated = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        let isInside = ranges.contains { $0.contains(value) } || nested.contains { $0.contains(scalar) }
        return isInside != isNegated
    }

    static let any = ScalarClass(ranges: [0...0x10FFFF])
    static let digit = ScalarClass(ranges: [0x30...0x39])
    static let word = ScalarClass(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = ScalarClass(ranges: [0x09...0x0D, 0x20...0x20, 0x85...0x85, 0xA0...0xA0, 0x2028...0x2029])

    static func one(_ scalar: Unicode.Scalar) -> ScalarClass { ScalarClass(ranges: [scalar.value...scalar.value]) }

    var negated: ScalarClass { ScalarClass(ranges: ranges, nested: nested, isNegated: !isNegated) }

    /// The accepted scalars as ascending ranges that do not touch each other.
    package var sortedRanges: [ClosedRange<UInt32>] {
        let all = (ranges + nested.flatMap(\.sortedRanges)).sorted { $0.lowerBound < $1.lowerBound }
        var result: [ClosedRange<UInt32>] = []
        for range in all {
            if let last = result.last, range.lowerBound <= last.upperBound + 1 {
                result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        if !isNegated { return result }
        var rest: [ClosedRange<UInt32>] = [], next: UInt32 = 0
        for range in result {
            if range.lowerBound > next { rest.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= 0x10FFFF { rest.append(next...0x10FFFF) }
        return rest
    }
}
