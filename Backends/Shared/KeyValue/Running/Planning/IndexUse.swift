internal import PolystoreStorage

/// A part of an index that contains all rows that satisfy a condition.
struct IndexUse {
    let index: KeyValueLayout.IndexMap
    /// The key intervals of its entries, ascending. They may overlap where values were cut.
    let intervals: [KeyInterval]
    /// The number of leading slots that have the same value in all entries.
    let fixed: Int
    /// The number of leading slots that the condition restricts.
    let used: Int
    /// Whether every entry satisfies the condition.
    let isExact: Bool

    /// The maximum number of intervals that lists of values in several slots may be multiplied to.
    private static let most = 10_000

    init(_ index: KeyValueLayout.IndexMap, _ condition: CheckedPredicate) {
        let parts = if case .and(let parts) = condition { parts } else { [condition] }
        var current = [KeyInterval(low: [], high: [2], isValue: true)], answered = Set<Int>()
        var fixed = 0, used = 0, isCut = false
        for slot in index.slots {
            let known = parts.indices.compactMap { part in KeyIntervals(parts[part], slot: slot).map { (part, $0) } }
            guard let first = known.first, current.allSatisfy(\.isValue) else { break }
            let here = known.dropFirst().reduce(first.1) { $0.intersection($1.1) }
            if used > 0, current.count * here.list.count > Self.most { break }
            current = current.flatMap { start in here.list.map { Self.append($0, to: start, &isCut) } }
            used += 1
            if current.count == 1, current[0].isValue { fixed = used }
            answered.formUnion(known.lazy.filter { $0.1.isExact }.map(\.0))
        }
        self.index = index
        // Every entry begins with 0 or 1. The bound is not empty because an engine need not support empty keys.
        if used == 0 { current = [KeyInterval(low: [0], high: [2])] }
        intervals = isCut ? KeyIntervals.merged(current) : current
        self.fixed = fixed
        self.used = used
        isExact = !isCut && (condition == .constant(true) || answered.count == parts.count)
    }

    /// Returns the interval of the keys that begin with the value of `start` and continue within `interval`.
    private static func append(_ interval: KeyInterval, to start: KeyInterval, _ isCut: inout Bool) -> KeyInterval {
        if start.low.isEmpty { return interval }
        let low = start.low + interval.low, high = start.low + interval.high
        if max(low.count, high.count) <= KeyIntervals.limit { return KeyInterval(low: low, high: high, isValue: interval.isValue) }
        isCut = true
        let lowest = Array(low.prefix(KeyIntervals.limit)), highest = Array(high.prefix(KeyIntervals.limit))
        return KeyInterval(low: lowest, high: highest == high ? high : highest.successor)
    }

    /// Returns a use of each index that contains every row of a plan's entities, whether or not the condition restricts it.
    static func all(_ plan: FetchPlan, _ layout: KeyValueLayout) -> [IndexUse] {
        layout.indexes[plan.entity]
            .filter { index in plan.entities.allSatisfy(layout.schema[index.entity].family.contains) }
            .map { IndexUse($0, plan.predicate) }
    }

    /// Returns the uses to choose from: for each leading slot the one that the condition restricts most.
    static func narrowing(_ uses: [IndexUse]) -> [IndexUse] {
        var best: [Int: IndexUse] = [:]
        for use in uses where use.used > 0 {
            guard let slot = use.index.slots.first else { continue }
            if best[slot].map({ $0.used < use.used }) ?? true { best[slot] = use }
        }
        return best.keys.sorted().compactMap { best[$0] }
    }
}
