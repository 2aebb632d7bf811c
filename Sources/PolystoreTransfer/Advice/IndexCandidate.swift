package import PolystoreStorage

/// An ordered index that a request could use.
package struct IndexCandidate: Hashable {
    let entity: EntityIndex
    /// The slots that the request compares with single values, in ascending order. An index may have them in any order.
    let equal: [Int]
    /// The slots that must follow in their order: the sort keys, or a slot that is compared with a range.
    let rest: [Int]

    /// The maximum number of properties. PostgreSQL's indexes have at most 32 columns, and long before that a further one saves nothing.
    private static let mostSlots = 16

    package var slots: [Int] { equal + rest }

    /// Returns the indexes that a fetch could use: one by which it finds its objects in their order, and one by which it finds those in a
    /// range, if that is another one. An order alone is worth an index only with a limit.
    package static func all(for plan: FetchPlan, in schema: Schema) -> [IndexCandidate] {
        if plan.limit == 0 { return [] }
        let terms = IndexTerms(plan, schema)
        var found: [IndexCandidate] = []
        func add(_ rest: [Int]) {
            let equal = Array(terms.equal.prefix(mostSlots)), rest = equal.count < terms.equal.count ? [] : rest
            let candidate = IndexCandidate(entity: plan.entity, equal: equal, rest: Array(rest.prefix(mostSlots - equal.count)))
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

    /// Whether an index of an entity over slots, in their order, helps as much, provided that it contains the objects of the candidate's entity.
    func isServed(by index: [Int], of other: EntityDescription, in schema: Schema) -> Bool {
        let own = schema[entity]
        if other.root != own.root || index.count < slots.count { return false }
        // Relatives may have other slots.
        let columns = index.map { other.slots[$0].column }
        return Set(columns.prefix(equal.count)) == Set(equal.map { own.slots[$0].column })
            && columns[equal.count..<slots.count].elementsEqual(rest.map { own.slots[$0].column })
    }

    /// Returns the slots that a fetch compares with single values, none of them nil.
    static func valued(for plan: FetchPlan, in schema: Schema) -> Set<Int> { IndexTerms(plan, schema).valued }
}

/// The parts of a fetch for which an engine can use an ordered index of the fetched entity.
private struct IndexTerms {
    /// The slots that are compared with single values.
    private(set) var equal: [Int] = []
    /// Those of them whose values are not nil.
    private(set) var valued: Set<Int> = []
    /// The first slot that is compared with a range of values.
    private(set) var range: Int?
    /// The sort keys without those that are compared with single values, up to the first that is no slot or has another direction.
    private(set) var order: [Int] = []

    private let slots: [Slot]

    init(_ plan: FetchPlan, _ schema: Schema) {
        slots = schema[plan.entity].slots
        add(plan.predicate)
        equal = Set(equal).sorted()
        if let slot = range, equal.contains(slot) { range = nil }
        for key in plan.sort {
            guard key.ascending == plan.sort[0].ascending, let slot = self.slot(key.expression) else { break }
            if !equal.contains(slot), !order.contains(slot) { order.append(slot) }
        }
    }

    private mutating func add(_ predicate: CheckedPredicate) {
        switch predicate {
        case .and(let parts): for part in parts { add(part) }
        case .isNil(let path): if let slot = self.slot(.path(path)) { equal.append(slot) }
        case .isIn(let expression, _): if let slot = self.slot(expression) { add(slot, .equal) }
        case .compare(let left, let comparison, let right):
            if case .value = right, let slot = self.slot(left) {
                add(slot, comparison)
            } else if case .value = left, let slot = self.slot(right) {
                add(slot, comparison)
            }
        case .text(let expression, .beginsWith, _): if range == nil { range = self.slot(expression) }
        case .constant, .text, .related, .isEntity, .or, .not: break
        }
    }

    private mutating func add(_ slot: Int, _ comparison: Comparison) {
        switch comparison {
        case .equal:
            equal.append(slot)
            valued.insert(slot)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: if range == nil { range = slot }
        case .notEqual: break
        }
    }

    /// Returns the slot of a property of the fetched object itself. Coded attributes have no index.
    private func slot(_ expression: CheckedExpression) -> Int? {
        guard case .path(let path) = expression, path.steps.isEmpty, case .slot(let slot) = path.leaf,
            slots[slot].attribute?.coder == nil
        else { return nil }
        return slot
    }
}
