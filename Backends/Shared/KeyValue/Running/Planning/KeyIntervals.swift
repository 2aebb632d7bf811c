internal import PolystoreStorage

/// The intervals of a slot's bytes in which a condition can be true, in ascending order and without overlaps or adjacent intervals.
struct KeyIntervals {
    var list: [KeyInterval]
    /// Whether the condition is true of every value in the intervals.
    var isExact: Bool

    /// Returns the intervals in which both conditions can be true.
    func intersection(_ other: KeyIntervals) -> KeyIntervals {
        var result: [KeyInterval] = [], i = 0, j = 0
        while i < list.count, j < other.list.count {
            let a = list[i], b = other.list[j]
            let low = a.low.precedes(b.low) ? b.low : a.low, high = a.high.precedes(b.high) ? a.high : b.high
            if low.precedes(high) {
                // Another condition on the same slot cannot cut an interval that contains a single value.
                let value = a.isValue ? a : b
                result.append(KeyInterval(low: low, high: high, isValue: value.isValue && value.low == low && value.high == high))
            }
            if a.high.precedes(b.high) { i += 1 } else { j += 1 }
        }
        return KeyIntervals(list: result, isExact: isExact && other.isExact)
    }

    /// Returns the intervals in which one of the conditions can be true.
    func union(_ other: KeyIntervals) -> KeyIntervals {
        KeyIntervals(list: Self.merged(list + other.list), isExact: isExact && other.isExact)
    }

    /// Returns intervals in ascending order, with those that overlap or touch joined.
    static func merged(_ list: [KeyInterval]) -> [KeyInterval] {
        var result: [KeyInterval] = []
        for interval in list.sorted(by: { $0.low.precedes($1.low) }) {
            guard let last = result.last, !last.high.precedes(interval.low) else {
                result.append(interval)
                continue
            }
            if last.low == interval.low, last.high == interval.high { continue }
            result[result.count - 1] = KeyInterval(low: last.low, high: last.high.precedes(interval.high) ? interval.high : last.high)
        }
        return result
    }
}

extension KeyIntervals {
    /// The maximum length of a bound in bytes. Entries are cut at a slightly greater length, so that a bound is never longer than the key
    /// it is compared with.
    static let limit = 500

    /// Creates the intervals of a slot for a condition; nil when the condition does not restrict the slot by itself.
    init?(_ condition: CheckedPredicate, slot: Int) {
        switch condition {
        case .isNil(let path) where path.isLocal(slot): self.init(list: [Self.null], isExact: true)
        case .compare(.path(let path), let comparison, .value(let value, _)) where path.isLocal(slot): self.init(comparison, value)
        case .isIn(.path(let path), let values) where path.isLocal(slot):
            // One batch serves all values, because there may be thousands of them.
            let batch = RowBatch(capacity: 1)
            let bounds = values.map { Bound($0, batch) }
            let isExact = bounds.allSatisfy(\.isWhole), list = bounds.map(\.interval)
            self.init(list: isExact ? list : Self.merged(list), isExact: isExact)
        case .text(.path(let path), .beginsWith, let needle) where path.isLocal(slot): self.init(beginningWith: needle.text)
        case .text(.path(let path), .like, let pattern) where path.isLocal(slot):
            // Every match begins with the first literal part of the pattern.
            guard case .literal(let start)? = LikePattern(pattern.text).parts.first else { return nil }
            self.init(beginningWith: start)
            isExact = false
        case .not(.isNil(let path)) where path.isLocal(slot): self.init(list: [Self.notNull], isExact: true)
        case .and(let parts):
            let known = parts.compactMap { KeyIntervals($0, slot: slot) }
            guard let first = known.first else { return nil }
            self = known.dropFirst().reduce(first) { $0.intersection($1) }
            isExact = isExact && known.count == parts.count
        case .or(let parts):
            var all = KeyIntervals(list: [], isExact: true)
            for part in parts {
                guard let known = KeyIntervals(part, slot: slot) else { return nil }
                all = KeyIntervals(list: all.list + known.list, isExact: all.isExact && known.isExact)
            }
            self.init(list: Self.merged(all.list), isExact: all.isExact)
        case .constant, .isNil, .compare, .isIn, .text, .related, .isEntity, .not: return nil
        }
    }

    private init?(_ comparison: Comparison, _ value: Value) {
        let bound = Bound(value, RowBatch(capacity: 1)), notNull = Self.notNull
        switch comparison {
        case .equal: self.init(list: [bound.interval], isExact: bound.isWhole)
        case .less:
            self.init(list: [KeyInterval(low: notNull.low, high: bound.isWhole ? bound.low : bound.high)], isExact: bound.isWhole)
        case .lessOrEqual: self.init(list: [KeyInterval(low: notNull.low, high: bound.high)], isExact: bound.isWhole)
        case .greater:
            self.init(list: [KeyInterval(low: bound.isWhole ? bound.high : bound.low, high: notNull.high)], isExact: bound.isWhole)
        case .greaterOrEqual: self.init(list: [KeyInterval(low: bound.low, high: notNull.high)], isExact: bound.isWhole)
        case .notEqual: return nil
        }
    }

    private init(beginningWith text: String) {
        var key = KeyBytes()
        let batch = RowBatch(capacity: 1)
        // The batch owns the bytes that the cell points to.
        withExtendedLifetime(batch) { key.append(batch.cell(for: .string(text))) }
        // Removes the two terminating bytes.
        key.truncate(to: max(key.bytes.count - 2, 1))
        let isWhole = key.bytes.count <= Self.limit
        key.truncate(to: Self.limit)
        self.init(list: [KeyInterval(low: key.bytes, high: key.bytes.successor)], isExact: isWhole)
    }

    private static let null = KeyInterval(low: [0], high: [1], isValue: true)
    private static let notNull = KeyInterval(low: [1], high: [2])

    /// The encoded bytes of a value as bounds.
    private struct Bound {
        let low: [UInt8]
        let high: [UInt8]
        /// Whether the bytes contain the complete value; a long value is cut.
        let isWhole: Bool

        init(_ value: Value, _ batch: RowBatch) {
            batch.clear()
            var key = KeyBytes()
            key.append(batch.cell(for: value))
            isWhole = key.bytes.count <= KeyIntervals.limit
            key.truncate(to: KeyIntervals.limit)
            low = key.bytes
            high = key.bytes.successor
        }

        var interval: KeyInterval { KeyInterval(low: low, high: high, isValue: isWhole) }
    }
}

extension CheckedPath {
    /// Whether the path is a slot of the row itself.
    func isLocal(_ slot: Int) -> Bool { steps.isEmpty && leaf == .slot(slot) }
}

extension [UInt8] {
    /// Whether these bytes sort before others.
    func precedes(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { a in other.withUnsafeBytes { b in compareBytes(a, b) < 0 } }
    }

    /// The smallest byte string that is greater than every string with this prefix. The bytes of a slot begin with 0 or 1.
    var successor: [UInt8] {
        var bytes = self
        while let last = bytes.popLast() {
            if last < 0xff { return bytes + [last + 1] }
        }
        return [2]
    }
}
