internal import PolystoreSchema

/// Reads the objects that relationships of a row reference and that satisfy the condition.
final class MembersReader {
    private let hops: [CheckedMembers.Hop]
    private let families: [Set<EntityIndex>]
    private let condition: PredicateEvaluator?
    /// The values of the row that the condition reads.
    private let own = OuterValues()
    private let failure: EvaluationFailure

    init(_ members: CheckedMembers, _ schema: Schema, _ failure: EvaluationFailure, _ outer: [OuterValues]) {
        self.failure = failure
        hops = members.hops
        families = members.hops.map { hop in
            switch hop {
            case .toOne(let step): Set(schema[step.destination].family)
            case .toMany(_, _, let destination): Set(schema[destination].family)
            }
        }
        condition =
            members.predicate == .constant(true)
            ? nil : PredicateEvaluator(members.predicate, schema, failure, outer: outer + [own])
    }

    /// Calls a closure with each of the objects until it returns false.
    func forEach(_ row: borrowing RowView, _ related: some RelatedRows, _ body: (borrowing RowView) -> Bool) {
        own.read(row, related, failure)
        _ = visit(row, 0, related, body)
    }

    /// Returns whether there is at least one.
    func isAny(_ row: borrowing RowView, _ related: some RelatedRows) -> Bool {
        var found = false
        forEach(row, related) { _ in
            found = true
            return false
        }
        return found
    }

    private func visit(
        _ row: borrowing RowView, _ position: Int, _ related: some RelatedRows, _ body: (borrowing RowView) -> Bool
    ) -> Bool {
        if position == hops.count {
            if let condition, !condition.matches(row, related) { return true }
            return body(row)
        }
        switch hops[position] {
        case .toOne(let step):
            let key = row[step.slot]
            guard !key.isNull, let next = related.row(step.destination, key.int), families[position].contains(next.entity) else {
                return true
            }
            return visit(next, position + 1, related, body)
        case .toMany(let entity, let relationship, _):
            var goesOn = true
            let family = families[position]
            related.members(entity, relationship, of: row.key) { member in
                if family.contains(member.entity) { goesOn = visit(member, position + 1, related, body) }
                return goesOn
            }
            return goesOn
        }
    }
}
