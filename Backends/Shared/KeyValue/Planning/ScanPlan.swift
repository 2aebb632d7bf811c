internal import PolystoreStorage

/// Which pairs of which map are read to answer a fetch. The whole condition is evaluated on what is read, so a plan may read too much,
/// never too little.
struct ScanPlan {
    /// A range of an index: from a key on, as long as the bytes begin with a prefix, up to an end.
    struct Range {
        let from: KeyBytes
        /// What every key must begin with; nil for no such limit.
        let prefix: KeyBytes?
        /// The first key that is too great; nil for none.
        let end: KeyBytes?
    }

    enum Access {
        /// All rows, in key order.
        case all
        /// Rows from a key on, in key order, up to one.
        case keyRange(Int64, Int64)
        /// Rows of these keys, ascending.
        case keys([Int64])
        /// Rows that ranges of an index lead to.
        case index(Int, [Range])
    }

    let access: Access

    init(_ plan: FetchPlan, _ layout: KeyValueLayout) {
        let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        access = Self.byKey(parts) ?? Self.byIndex(parts, plan, layout) ?? .all
    }

    private static func byKey(_ parts: [CheckedPredicate]) -> Access? {
        var low = Int64.min, high = Int64.max, isBounded = false
        for part in parts {
            switch part {
            case .compare(let path, let comparison, .int(let key)) where path.steps.isEmpty && path.leaf == .key:
                switch comparison {
                case .equal: return .keys([key])
                case .less where key > .min: (high, isBounded) = (min(high, key - 1), true)
                case .lessOrEqual: (high, isBounded) = (min(high, key), true)
                case .greater where key < .max: (low, isBounded) = (max(low, key + 1), true)
                case .greaterOrEqual: (low, isBounded) = (max(low, key), true)
                case .notEqual, .less, .greater: continue
                }
            case .isIn(let path, let values) where path.steps.isEmpty && path.leaf == .key:
                return .keys(values.compactMap { if case .int(let key) = $0 { key } else { nil } })
            case .constant, .isNil, .compare, .comparePaths, .isIn, .text, .compareExpressions, .isInExpression, .textOf, .related,
                .isEntity,
                .and, .or, .not:
                continue
            }
        }
        return isBounded ? .keyRange(low, high) : nil
    }

    /// The best condition that an index answers: equality before a list, a list before a prefix, that before a range.
    private static func byIndex(_ parts: [CheckedPredicate], _ plan: FetchPlan, _ layout: KeyValueLayout) -> Access? {
        var best: (rank: Int, access: Access)?
        for part in parts {
            guard let (slot, rank, ranges) = ranges(part) else { continue }
            // The index must hold every row that is asked for: it covers the family of the entity that declares it.
            guard
                let index = layout.indexes[plan.entity].first(where: { index in
                    index.slots.first == slot && plan.entities.allSatisfy(layout.schema[index.entity].family.contains)
                })
            else { continue }
            if best.map({ rank < $0.rank }) ?? true { best = (rank, .index(index.map, ranges)) }
        }
        return best?.access
    }

    private static func ranges(_ part: CheckedPredicate) -> (slot: Int, rank: Int, ranges: [Range])? {
        func local(_ path: CheckedPath) -> Int? {
            if path.steps.isEmpty, case .slot(let slot) = path.leaf { slot } else { nil }
        }
        switch part {
        case .isNil(let path): return local(path).map { ($0, 0, [exactly(.null)]) }
        case .compare(let path, let comparison, let value):
            guard let slot = local(path) else { return nil }
            switch comparison {
            case .equal: return (slot, 0, [exactly(value)])
            case .less, .lessOrEqual: return (slot, 3, [Range(from: notNull, prefix: notNull, end: after(value))])
            case .greater, .greaterOrEqual: return (slot, 3, [Range(from: key(value), prefix: notNull, end: nil)])
            case .notEqual: return nil
            }
        case .isIn(let path, let values):
            return local(path).map { slot in
                // One batch for all: there may be thousands of values.
                let batch = RowBatch(capacity: 1)
                return (slot, 1, values.map { exactly($0, batch) })
            }
        case .text(let path, .beginsWith, let needle):
            return local(path).map { slot in
                var start = key(.string(needle))
                start.truncate(to: max(start.bytes.count - 2, 1))  // without the end mark
                start.truncate(to: limit)
                return (slot, 2, [Range(from: start, prefix: start, end: nil)])
            }
        case .text(let path, .like, let pattern):
            // What every match begins with.
            guard case .literal(let start)? = LikePattern(pattern).parts.first else { return nil }
            return ranges(.text(path, .beginsWith, start))
        case .constant, .comparePaths, .text, .compareExpressions, .isInExpression, .textOf, .related, .isEntity, .and, .or, .not:
            return nil
        }
    }

    /// Index keys are cut at this length, less the row's key: prefixes of wanted values must be too.
    static let limit = 500

    private static func key(_ value: Value, _ batch: RowBatch = RowBatch(capacity: 1)) -> KeyBytes {
        batch.clear()
        var key = KeyBytes()
        key.append(batch.cell(for: value))
        key.truncate(to: limit)
        return key
    }

    private static var notNull: KeyBytes {
        var key = KeyBytes()
        key.append(byte: 1)
        return key
    }

    private static func exactly(_ value: Value, _ batch: RowBatch = RowBatch(capacity: 1)) -> Range {
        let key = key(value, batch)
        return Range(from: key, prefix: key, end: nil)
    }

    /// The first key behind all that begin with a value.
    private static func after(_ value: Value) -> KeyBytes? { key(value).successor }
}

extension KeyBytes {
    mutating func append(byte: UInt8) { append(raw: [byte]) }

    /// The smallest bytes that are greater than everything that begins with these; nil when there are none.
    var successor: KeyBytes? {
        var bytes = bytes
        while let last = bytes.last {
            if last < 0xff {
                bytes[bytes.count - 1] = last + 1
                var result = KeyBytes()
                result.append(raw: bytes)
                return result
            }
            bytes.removeLast()
        }
        return nil
    }
}
