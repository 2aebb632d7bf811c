internal import PolystoreStorage

/// The numbers that determine the order of an ordered to-many relationship. They leave gaps, so that a member can be inserted between two
/// others without changing them.
enum Rank {
    static let gap: Int64 = 1 << 20

    /// Assigns ascending ranks to members in a new order. As many members as possible keep their ranks, and all members get new ranks only
    /// if a gap is exhausted.
    ///
    /// The members that keep their ranks are a longest ascending subsequence of the known ranks (Fredman, "On computing the length of
    /// longest increasing subsequences", 1975), so that only moved members change.
    /// - Complexity: O(n log n).
    static func assign(_ known: [Int64?]) -> [Int64] {
        let kept = longestAscending(known)
        var ranks: [Int64] = []
        ranks.reserveCapacity(known.count)
        var index = 0
        while index < known.count {
            if kept[index], let rank = known[index] {
                ranks.append(rank)
                index += 1
                continue
            }
            var end = index
            while end < known.count, !kept[end] { end += 1 }
            guard let between = between(ranks.last, end == known.count ? nil : known[end], count: Int64(end - index)) else {
                return known.indices.map { (Int64($0) + 1) * gap }
            }
            ranks += between
            index = end
        }
        return ranks
    }

    /// Returns a number of ranks between two others; nil if there are not enough numbers between them or in the value range.
    private static func between(_ before: Int64?, _ after: Int64?, count: Int64) -> [Int64]? {
        var start = before ?? 0, step = gap
        if let after {
            // Members before the first rank are placed below it, with one gap per member.
            let (reach, isFar) = gap.multipliedReportingOverflow(by: count + 1)
            let (lowest, isBelow) = after.subtractingReportingOverflow(reach)
            let (distance, isOver) = after.subtractingReportingOverflow(start)
            if before == nil {
                if isFar || isBelow { return nil }
                start = lowest
            } else {
                step = distance / (count + 1)
                if isOver || step < 1 { return nil }
            }
        }
        let (reach, isFar) = step.multipliedReportingOverflow(by: count)
        if isFar || start.addingReportingOverflow(reach).overflow { return nil }
        return (1...count).map { start + $0 * step }
    }

    /// Returns which elements form a longest ascending subsequence.
    static func longestAscending(_ ranks: [Int64?]) -> [Bool] {
        // The positions of the smallest last elements of ascending subsequences, by length, and the predecessor of each element.
        var ends: [Int] = [], before = [Int?](repeating: nil, count: ranks.count)
        for (index, rank) in ranks.enumerated() {
            guard let rank else { continue }
            var low = 0, high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if ranks[ends[middle]] ?? .min < rank { low = middle + 1 } else { high = middle }
            }
            before[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var kept = [Bool](repeating: false, count: ranks.count), current = ends.last
        while let index = current {
            kept[index] = true
            current = before[index]
        }
        return kept
    }
}
