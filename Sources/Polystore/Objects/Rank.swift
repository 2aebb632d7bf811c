internal import PolystoreStorage

/// The numbers that keep the order of an ordered to-many. They leave gaps, so that a member can be put between two others without
/// touching them.
enum Rank {
    static let gap: Int64 = 1 << 20

    /// Ascending ranks for members in a new order: as many as possible keep theirs, and only where a gap is used up all are numbered anew.
    ///
    /// The members that stay are a longest ascending subsequence of the known ranks (Fredman, "On computing the length of longest
    /// increasing subsequences", 1975), so a member that is moved is the only one that changes.
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
            guard let between = between(ranks.last, end < known.count ? known[end] : nil, count: Int64(end - index)) else {
                return known.indices.map { (Int64($0) + 1) * gap }
            }
            ranks += between
            index = end
        }
        return ranks
    }

    /// So many ranks after one and before another; nil where there is no room for them between the two or among the numbers.
    private static func between(_ before: Int64?, _ after: Int64?, count: Int64) -> [Int64]? {
        var start = before ?? 0, step = gap
        if let after {
            // All that come first are put below: as many gaps before the first that has a rank.
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

    private static func longestAscending(_ ranks: [Int64?]) -> [Bool] {
        // The places of the least last elements of ascending subsequences, by their length, and what stands before each element in one.
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
