internal import PolystoreSchema

// A condition on what a to-one relationship leads to, as one on the object that has the relationship.

extension CheckedPath {
    func prefixed(_ step: Step) -> CheckedPath {
        CheckedPath(steps: [step] + steps, entity: entity, leaf: leaf, type: type, text: text)
    }

    fileprivate func prefixed(_ step: Step, depth: Int) -> CheckedPath { depth == 0 ? prefixed(step) : self }
}

// Inside of conditions on related objects, so many as the depth says, it is the properties of the object outside that are prefixed.

extension CheckedMembers {
    func prefixed(_ step: CheckedPath.Step, depth: Int = 0) -> CheckedMembers {
        CheckedMembers(
            hops: depth == 0 ? [.toOne(step)] + hops : hops, destination: destination,
            predicate: predicate.prefixed(step, depth: depth + 1), text: text)
    }
}

extension CheckedExpression {
    func prefixed(_ step: CheckedPath.Step, depth: Int = 0) -> CheckedExpression {
        switch self {
        case .path(let path): .path(path.prefixed(step, depth: depth))
        case .outer(let level, let path): level == depth ? .outer(level, path.prefixed(step)) : self
        case .value: self
        case .function(let function, let arguments, let type):
            .function(function, arguments.map { $0.prefixed(step, depth: depth) }, type)
        case .conditional(let condition, let a, let b, let type):
            .conditional(
                condition.prefixed(step, depth: depth), a.prefixed(step, depth: depth), b.prefixed(step, depth: depth), type)
        case .related(let function, let members, let path, let type):
            .related(function, members.prefixed(step, depth: depth), path, type)
        }
    }
}

extension CheckedPredicate {
    /// The condition on the object that has the relationship; false where that leads nowhere.
    func through(_ step: CheckedPath.Step) -> CheckedPredicate {
        let object = CheckedPath(steps: [step], entity: step.destination, leaf: .key, type: .int64, text: "SELF")
        return .all([.not(.isNil(object)), prefixed(step, depth: 0)])
    }

    fileprivate func prefixed(_ step: CheckedPath.Step, depth: Int) -> CheckedPredicate {
        func own(_ path: CheckedPath) -> CheckedPath { path.prefixed(step, depth: depth) }
        func inner(_ expression: CheckedExpression) -> CheckedExpression { expression.prefixed(step, depth: depth) }
        return switch self {
        case .constant: self
        case .isNil(let path): .isNil(own(path))
        case .compare(let path, let comparison, let value): .compare(own(path), comparison, value)
        case .comparePaths(let a, let comparison, let b): .comparePaths(own(a), comparison, own(b))
        case .isIn(let path, let values): .isIn(own(path), values)
        case .text(let path, let match, let needle): .text(own(path), match, needle)
        case .compareExpressions(let a, let comparison, let b): .compareExpressions(inner(a), comparison, inner(b))
        case .isInExpression(let expression, let values): .isInExpression(inner(expression), values)
        case .textOf(let expression, let match, let needle): .textOf(inner(expression), match, needle)
        case .related(let members): .related(members.prefixed(step, depth: depth))
        // The entity is looked at where the object is, so the relationship is not followed for it.
        case .isEntity(let entities): .isEntity(entities)
        case .and(let parts): .and(parts.map { $0.prefixed(step, depth: depth) })
        case .or(let parts): .or(parts.map { $0.prefixed(step, depth: depth) })
        case .not(let part): .not(part.prefixed(step, depth: depth))
        }
    }

    /// Whether the condition looks at the entity of the object itself.
    var looksAtEntity: Bool {
        switch self {
        case .isEntity: true
        case .and(let parts), .or(let parts): parts.contains(where: \.looksAtEntity)
        case .not(let part): part.looksAtEntity
        case .compareExpressions(let a, _, let b): a.looksAtEntity || b.looksAtEntity
        case .isInExpression(let expression, _), .textOf(let expression, _, _): expression.looksAtEntity
        case .constant, .isNil, .compare, .comparePaths, .isIn, .text, .related: false
        }
    }
}

extension CheckedExpression {
    fileprivate var looksAtEntity: Bool {
        switch self {
        case .path, .outer, .value, .related: false
        case .function(_, let arguments, _): arguments.contains(where: \.looksAtEntity)
        case .conditional(let condition, let a, let b, _): condition.looksAtEntity || a.looksAtEntity || b.looksAtEntity
        }
    }
}
