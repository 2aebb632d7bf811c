internal import PolystoreSchema

extension QueryPlan {
    /// The slots that a query over groups reads of each row; nil when it reads anything else: the entity, or other rows.
    public var localSlots: Set<Int>? {
        guard case .groups(let grouping) = kind, fetch.sort.isEmpty else { return nil }
        var slots: Set<Int> = []
        let expressions = grouping.keys + grouping.aggregates.compactMap(\.argument)
        let isLocal = fetch.predicate.addSlots(to: &slots) && expressions.allSatisfy { $0.addSlots(to: &slots) }
        return isLocal ? slots : nil
    }
}

extension FetchPlan {
    /// Whether condition and order read the values of a row alone, and no other rows.
    public var isLocal: Bool {
        var slots: Set<Int> = []
        return predicate.addSlots(to: &slots) && sort.allSatisfy { $0.expression.addSlots(to: &slots) }
    }
}

extension CheckedExpression {
    /// Whether it reads the values of a row alone, and no other rows.
    public var isLocal: Bool {
        var slots: Set<Int> = []
        return addSlots(to: &slots)
    }
}

extension CheckedPath {
    fileprivate func addSlots(to slots: inout Set<Int>) -> Bool {
        if case .slot(let slot) = leaf { slots.insert(slot) }
        return steps.isEmpty
    }
}

extension CheckedExpression {
    /// Adds the slots that are read; false when more than slots are.
    fileprivate func addSlots(to slots: inout Set<Int>) -> Bool {
        switch self {
        case .path(let path): path.addSlots(to: &slots)
        case .value: true
        case .function(_, let arguments, _): arguments.allSatisfy { $0.addSlots(to: &slots) }
        case .conditional(let condition, let a, let b, _):
            condition.addSlots(to: &slots) && a.addSlots(to: &slots) && b.addSlots(to: &slots)
        case .outer, .related: false
        }
    }
}

extension CheckedPredicate {
    /// Adds the slots that are read; false when more than slots are.
    fileprivate func addSlots(to slots: inout Set<Int>) -> Bool {
        switch self {
        case .constant: true
        case .isNil(let path), .compare(let path, _, _), .isIn(let path, _), .text(let path, _, _): path.addSlots(to: &slots)
        case .comparePaths(let a, _, let b): a.addSlots(to: &slots) && b.addSlots(to: &slots)
        case .compareExpressions(let a, _, let b): a.addSlots(to: &slots) && b.addSlots(to: &slots)
        case .isInExpression(let expression, _), .textOf(let expression, _, _): expression.addSlots(to: &slots)
        case .related, .isEntity: false
        case .and(let parts), .or(let parts): parts.allSatisfy { $0.addSlots(to: &slots) }
        case .not(let part): part.addSlots(to: &slots)
        }
    }
}
