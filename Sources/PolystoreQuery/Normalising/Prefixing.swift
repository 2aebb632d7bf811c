internal import PolystoreSchema

/// Converts a condition on the destination of a to-one relationship into one on the source object: properties of the object, including
/// those that nested conditions on related objects read, begin with a step.
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
    /// Returns the condition on the object that has the relationship; false if the relationship is nil or dangling.
    func through(_ step: CheckedPath.Step) -> CheckedPredicate {
        let object = CheckedPath(steps: [step], entity: step.destination, leaf: .key, type: .int64, text: "SELF")
        return .all([.not(.isNil(object)), Prefixing(step: step).rewritten(self, 0)])
    }

    /// Whether the condition depends on the entity of the object itself, so that it cannot be moved to an object that references it.
    var looksAtEntity: Bool { contains { node, depth in if depth == 0, case .predicate(.isEntity) = node { true } else { false } } }
}
