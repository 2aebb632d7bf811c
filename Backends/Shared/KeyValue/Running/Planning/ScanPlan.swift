internal import PolystoreStorage

/// The choice of the pairs that are read to answer a fetch. The complete condition is evaluated on every row that is read, so a plan may
/// read too many rows but never too few.
struct ScanPlan {
    enum Access {
        /// All rows, in key order.
        case all
        /// Rows from the first row key up to the second, in key order.
        case keyRange(Int64, Int64)
        /// Rows of these keys, ascending.
        case keys([Int64])
        /// Rows that a search in indexes found.
        case found(KeySearch.Found)
        /// Rows in the order of an index, which is the sort order of the fetch.
        case ordered(IndexOrder)
    }

    let access: Access

    /// Whether the rows come in the sort order of the fetch.
    var isSorted: Bool { if case .ordered = access { true } else { false } }

    /// Chooses the plan with the fewest reads, by reading entries of the candidate indexes.
    init(_ plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) { access = try Self.choose(plan, reader) }

    /// Creates a plan that reads rows in key order, for a fetch where reading in index order proved expensive.
    init(unordered plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) {
        let uses = IndexUse.narrowing(IndexUse.all(plan, reader.core.layout))
        access = try Self.byIndex(plan, uses, reader, most: Self.budget(plan, reader)) ?? .all
    }

    private static func choose(_ plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) -> Access {
        if let access = byKey(plan.predicate) { return access }
        let uses = IndexUse.all(plan, reader.core.layout), narrowing = IndexUse.narrowing(uses)
        let most = try budget(plan, reader)
        guard let order = IndexOrder.best(plan, uses, reader.core.layout) else {
            return try byIndex(plan, narrowing, reader, most: most) ?? .all
        }
        if order.use.isExact { return .ordered(order) }
        guard let limit = plan.limit else { return try byIndex(plan, narrowing, reader, most: most) ?? .all }
        // The fetch wants few rows. Reading in index order may find them early, unless a selective condition leaves only few rows to sort.
        let wanted = limit.addingReportingOverflow(plan.offset)
        let few = wanted.overflow ? most : min(most, min(max(wanted.partialValue, 64), most) * 4 * KeySearch.lookUpCost)
        return try byIndex(plan, narrowing, reader, most: few) ?? .ordered(order)
    }

    /// Returns the cost of a scan of all rows, in pairs that are read sequentially.
    static func budget(_ plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) -> Int {
        max(try reader.engine.count(reader.core.layout.rows[plan.entity]) * weight(plan.predicate), 512)
    }

    /// Returns the cost of reading a pair and evaluating a condition: a comparison costs as much as the pair, a search in a list of texts
    /// slightly more.
    private static func weight(_ condition: CheckedPredicate) -> Int {
        let parts = if case .and(let parts) = condition { parts } else { [condition] }
        var weight = 2
        for part in parts {
            if case .isIn(.path, let values) = part { weight = max(weight, 2 + (Int.bitWidth - values.count.leadingZeroBitCount) / 4) }
        }
        return weight
    }

    private static func byIndex(
        _ plan: FetchPlan, _ uses: [IndexUse], _ reader: KeyValueReader, most: Int
    ) throws(StorageError) -> Access? {
        let found = try KeySearch.keys(uses, reader, most: most)
        guard let words = try WordSearch.keys(plan, reader) else { return found.map(Access.found) }
        let keys = found.map { KeySearch.intersection($0.keys, words.keys) } ?? words.keys
        return .found(KeySearch.Found(keys: keys, uses: found?.uses ?? [], words: words.indexes))
    }

    private static func byKey(_ condition: CheckedPredicate) -> Access? {
        let parts = if case .and(let parts) = condition { parts } else { [condition] }
        var low = Int64.min, high = Int64.max, isBounded = false
        for part in parts {
            switch part {
            case .compare(.path(let path), let comparison, .value(.int(let key), _)) where path.steps.isEmpty && path.leaf == .key:
                switch comparison {
                case .equal: return .keys([key])
                case .less where key > .min: (high, isBounded) = (min(high, key - 1), true)
                case .lessOrEqual: (high, isBounded) = (min(high, key), true)
                case .greater where key < .max: (low, isBounded) = (max(low, key + 1), true)
                case .greaterOrEqual: (low, isBounded) = (max(low, key), true)
                case .notEqual, .less, .greater: continue
                }
            case .isIn(.path(let path), let values) where path.steps.isEmpty && path.leaf == .key:
                return .keys(values.compactMap { if case .int(let key) = $0 { key } else { nil } })
            case .constant, .isNil, .compare, .isIn, .text, .related, .isEntity, .and, .or, .not: continue
            }
        }
        return isBounded ? .keyRange(low, high) : nil
    }

    /// Returns a line-by-line description of the plan, for people to read.
    func explanation(_ plan: FetchPlan, _ layout: KeyValueLayout) -> [String] {
        let rows = layout.schema.entities[layout.schema[plan.entity].root].name
        let line =
            switch access {
            case .all: "SCAN \(rows)"
            case .keyRange(let low, let high): "SCAN \(rows) FROM \(low) TO \(high)"
            case .keys(let keys): "SEARCH \(rows) FOR \(keys.count) KEYS"
            case .found(let found):
                "SEARCH \(rows) USING "
                    + (found.uses.map(\.index) + found.words).map(\.name).joined(separator: " AND ")
                    + ": \(found.keys.count) ROWS"
            case .ordered(let order):
                "SCAN \(rows) IN ORDER OF \(order.use.index.name)\(order.isAscending ? "" : " BACKWARDS")"
            }
        return plan.sort.isEmpty || isSorted ? [line] : [line, "SORT IN MEMORY"]
    }
}
