internal import PolystoreStorage

/// Which pairs of which map are read to answer a fetch. The whole condition is evaluated on what is read, so a plan may read too much,
/// never too little.
struct ScanPlan {
    enum Access {
        /// All rows, in key order.
        case all
        /// Rows from a key on, in key order, up to one.
        case keyRange(Int64, Int64)
        /// Rows of these keys, ascending.
        case keys([Int64])
        /// Rows that indexes led to.
        case found(KeySearch.Found)
        /// Rows in the order of an index, which is the order asked for.
        case ordered(IndexOrder)
    }

    let access: Access

    /// Whether the rows come in the order asked for.
    var isSorted: Bool { if case .ordered = access { true } else { false } }

    /// The plan with the fewest reads, found by looking into the indexes.
    init(_ plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) { access = try Self.choose(plan, reader) }

    /// Rows in the order of their keys, for when the order of an index turned out to be dear.
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
        // Few rows are wanted: the order of the index may give them soon, unless a condition leaves few to sort.
        let wanted = limit.addingReportingOverflow(plan.offset)
        let few = wanted.overflow ? most : min(most, max(wanted.partialValue, 64) * 4 * KeySearch.lookUpCost)
        return try byIndex(plan, narrowing, reader, most: few) ?? .ordered(order)
    }

    /// What reading all rows costs, in pairs that are read one after the other.
    static func budget(_ plan: FetchPlan, _ reader: KeyValueReader) throws(StorageError) -> Int {
        max(try reader.engine.count(reader.core.layout.rows[plan.entity]) * weight(plan.predicate), 512)
    }

    /// What reading a pair and evaluating a condition costs: a comparison as much as the pair, a search in a list of texts some steps more.
    private static func weight(_ condition: CheckedPredicate) -> Int {
        let parts = if case .and(let parts) = condition { parts } else { [condition] }
        var weight = 2
        for part in parts {
            if case .isIn(_, let values) = part { weight = max(weight, 2 + (Int.bitWidth - values.count.leadingZeroBitCount) / 4) }
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
                .isEntity, .and, .or, .not:
                continue
            }
        }
        return isBounded ? .keyRange(low, high) : nil
    }

    /// The plan line by line, for people to read.
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
