/// The scalars of words, one bit for each scalar.
struct WordScalars: Sendable {
    static let shared = WordScalars()
    private var bits = [UInt64](repeating: 0, count: 0x110000 / 64)

    static var ranges: [ClosedRange<UInt32>] {
        FoldingTables.wordScalars.split(separator: " ").compactMap { item in
            let sides = item.split(separator: "-").compactMap { UInt32($0, radix: 16) }
            return sides.count == 2 && sides[0] <= sides[1] ? sides[0]...sides[1] : nil
        }
    }

    private init() {
        for range in Self.ranges { for scalar in range { bits[Int(scalar / 64)] |= 1 << UInt64(scalar % 64) } }
    }

    /// Returns whether a scalar is part of words.
    func contains(_ scalar: UInt32) -> Bool {
        scalar < 0x110000 && bits[Int(scalar / 64)] & 1 << UInt64(scalar % 64) != 0
    }
}
