/// The scalars accepted at one position of a pattern.
struct ScalarClass: Sendable {
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
}
