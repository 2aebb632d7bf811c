package import PolystoreStorage

/// An ordered index that a request could use.
package struct IndexCandidate: Hashable {
    let entity: EntityIndex
    /// The slots that the request compares with single values, in ascending order. An index may have them in any order.
    let equal: [Int]
    /// The slots that must follow in their order: the sort keys, or a slot that is compared with a range.
    let rest: [Int]

    package var slots: [Int] { equal + rest }

    /// Returns the indexes that a fetch could use: one by which it finds its objects in their order, and one by which it finds those in a
    /// range, if that is another one. An order alone is worth an index only with a limit.
    package static func all(for plan: FetchPlan) -> [IndexCandidate] {
        let terms = IndexTerms(plan)
        var found: [IndexCandidate] = []
        func add(_ rest: [Int]) {
            let candidate = IndexCandidate(entity: plan.entity, equal: terms.equal, rest: rest)
            if !candidate.slots.isEmpty, !found.contains(candidate) { found.append(candidate) }
        }
        let order = terms.order
        if let range = terms.range {
            if order.first == range { add(order) } else { add([range]) }
            if !order.isEmpty, order.first != range, plan.limit != nil { add(order) }
        } else if !order.isEmpty, !terms.equal.isEmpty || plan.limit != nil {
            add(order)
        } else {
            add([])
        }
        return found
    }

    /// Whether an index over slots, in their order, helps as much.
    func isServed(by index: [Int]) -> Bool {
        index.count >= slots.count && Set(index.prefix(equal.count)) == Set(equal) && Array(index[equal.count..<slots.count]) == rest
    }

    /// Whether an index over slots could be used for a fetch at all.
    static func isUsable(_ index: [Int], for plan: FetchPlan) -> Bool {
        let terms = IndexTerms(plan)
        guard let first = index.first else { return false }
        return terms.equal.contains(first) || terms.range == first || terms.order.first == first
    }
}

/// The parts of a fetch for which an engine can use an ordered index of the fetched entity.
private struct IndexTerms {
    /// The slots that are compared with single values.
    private(set) var equal: [Int] = []
    /// The first slot that is compared with a range of values.
    private(set) var range: Int?
    /// The sort keys without those that are compared with single values, up to the first that is no slot or has another direction.
    private(set) var order: [Int] = []

    init(_ plan: FetchPlan) {
        add(plan.predicate)
        equal = Set(equal).sorted()
        if let slot = range, equal.contains(slot) { range = nil }
        for key in plan.sort {
            guard key.ascending == plan.sort[0].ascending, let slot = Self.slot(key.expression) else { break }
            if !equal.contains(slot), !order.contains(slot) { order.append(slot) }
        }
    }

    private mutating func add(_ predicate: CheckedPredicate) {
        switch predicate {
        case .and(let parts): for part in parts { add(part) }
        case .isNil(let path): if let slot = Self.slot(.path(path)) { equal.append(slot) }
        case .isIn(let expression, _): if let slot = Self.slot(expression) { equal.append(slot) }
        case .compare(let left, let comparison, let right):
            if case .value = right, let slot = Self.slot(left) {
                add(slot, comparison)
            } else if case .value = left, let slot = Self.slot(right) {
                add(slot, comparison)
            }
        case .text(let expression, .beginsWith, _): if range == nil { range = Self.slot(expression) }
        case .constant, .text, .related, .isEntity, .or, .not: break
        }
    }

    private mutating func add(_ slot: Int, _ comparison: Comparison) {
        switch comparison {
        case .equal: equal.append(slot)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: if range == nil { range = slot }
        case .notEqual: break
        }
    }

    /// Returns the slot of a property of the fetched object itself.
    private static func slot(_ expression: CheckedExpression) -> Int? {
        guard case .path(let path) = expression, path.steps.isEmpty, case .slot(let slot) = path.leaf else { return nil }
        return slot
    }
}
