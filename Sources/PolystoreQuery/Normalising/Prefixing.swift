internal import PolystoreSchema

/// Makes of a condition on what a to-one relationship leads to one on the object that has the relationship: properties of the object,
/// also those that conditions on related objects look at from inside, begin with a step.
private struct Prefixing: CheckedRewriter {
    let step: CheckedPath.Step

    func rewritten(_ path: CheckedPath, _ depth: Int) -> CheckedPath {
        if depth != 0 { return path }
        return CheckedPath(steps: [step] + path.steps, entity: path.entity, leaf: path.leaf, type: path.type, text: path.text)
    }

    func rewritten(_ members: CheckedMembers, _ depth: Int) -> CheckedMembers {
        let members = rebuilt(members, depth)
        if depth != 0 { return members }
        return CheckedMembers(
            hops: [.toOne(step)] + members.hops, destination: members.destination, predicate: members.predicate, text: members.text)
    }
}

extension CheckedPredicate {
    /// The condition on the object that has the relationship; false where that leads nowhere.
    func through(_ step: CheckedPath.Step) -> CheckedPredicate {
        let object = CheckedPath(steps: [step], entity: step.destination, leaf: .key, type: .int64, text: "SELF")
        return .all([.not(.isNil(object)), Prefixing(step: step).rewritten(self, 0)])
    }

    /// Whether the condition looks at the entity of the object itself, so that it has no place at an object that leads there.
    var looksAtEntity: Bool { contains { node, depth in if depth == 0, case .predicate(.isEntity) = node { true } else { false } } }
}
