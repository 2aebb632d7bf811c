internal import PolystoreSchema

extension QueryPlan {
    /// The slots that a query over groups reads of each row; nil if it reads anything else, such as the entity or other rows.
    public var localSlots: Set<Int>? {
        guard case .groups(let grouping) = kind, fetch.sort.isEmpty else { return nil }
        var slots = LocalSlots()
        let expressions = grouping.keys + grouping.aggregates.compactMap(\.argument)
        return slots.take(fetch.predicate) && expressions.allSatisfy { slots.take($0) } ? slots.slots : nil
    }
}

extension FetchPlan {
    /// Whether condition and order read only the values of the row itself, and no other rows.
    public var isLocal: Bool {
        var slots = LocalSlots()
        return slots.take(predicate) && sort.allSatisfy { slots.take($0.expression) }
    }
}

extension CheckedExpression {
    /// Whether it reads only the values of the row itself, and no other rows.
    public var isLocal: Bool {
        var slots = LocalSlots()
        return slots.take(self)
    }
}

/// The slots of a row that conditions and expressions read.
private struct LocalSlots {
    var slots: Set<Int> = []

    /// Adds the slots that a predicate reads. Returns false if it reads more than slots of the row.
    mutating func take(_ predicate: CheckedPredicate) -> Bool { predicate.walk { node, depth in take(node, depth) } }

    /// Adds the slots that an expression reads. Returns false if it reads more than slots of the row.
    mutating func take(_ expression: CheckedExpression) -> Bool { expression.walk { node, depth in take(node, depth) } }

    private mutating func take(_ node: CheckedNode, _ depth: Int) -> CheckedWalk {
        switch node {
        case .property(let path):
            guard depth == 0, path.steps.isEmpty else { return .out }
            if case .slot(let slot) = path.leaf { slots.insert(slot) }
            return .into
        case .members, .predicate(.isEntity): return .out
        case .predicate, .expression: return .into
        }
    }
}
