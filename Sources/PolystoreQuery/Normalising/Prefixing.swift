internal import PolystoreSchema

// A condition on what a to-one relationship leads to, as one on the object that has the relationship.

extension CheckedPath {
    func prefixed(_ step: Step) -> CheckedPath {
        CheckedPath(steps: [step] + steps, entity: entity, leaf: leaf, type: type, text: text)
    }
}

extension CheckedMembers {
    func prefixed(_ step: CheckedPath.Step) -> CheckedMembers {
        CheckedMembers(hops: [.toOne(step)] + hops, destination: destination, predicate: predicate, text: text)
    }
}

extension CheckedExpression {
    func prefixed(_ step: CheckedPath.Step) -> CheckedExpression {
        switch self {
        case .path(let path): .path(path.prefixed(step))
        case .value: self
        case .function(let function, let arguments, let type): .function(function, arguments.map { $0.prefixed(step) }, type)
        case .conditional(let condition, let a, let b, let type):
            .conditional(condition.prefixed(step), a.prefixed(step), b.prefixed(step), type)
        case .related(let function, let members, let path, let type): .related(function, members.prefixed(step), path, type)
        }
    }
}

extension CheckedPredicate {
    /// The condition on the object that has the relationship; false where that leads nowhere.
    func through(_ step: CheckedPath.Step) -> CheckedPredicate {
        let object = CheckedPath(steps: [step], entity: step.destination, leaf: .key, type: .int64, text: "SELF")
        return .all([.not(.isNil(object)), prefixed(step)])
    }

    fileprivate func prefixed(_ step: CheckedPath.Step) -> CheckedPredicate {
        switch self {
        case .constant: self
        case .isNil(let path): .isNil(path.prefixed(step))
        case .compare(let path, let comparison, let value): .compare(path.prefixed(step), comparison, value)
        case .comparePaths(let a, let comparison, let b): .comparePaths(a.prefixed(step), comparison, b.prefixed(step))
        case .isIn(let path, let values): .isIn(path.prefixed(step), values)
        case .text(let path, let match, let needle): .text(path.prefixed(step), match, needle)
        case .compareExpressions(let a, let comparison, let b): .compareExpressions(a.prefixed(step), comparison, b.prefixed(step))
        case .isInExpression(let expression, let values): .isInExpression(expression.prefixed(step), values)
        case .textOf(let expression, let match, let needle): .textOf(expression.prefixed(step), match, needle)
        case .related(let members): .related(members.prefixed(step))
        // The entity is looked at where the object is, so the relationship is not followed for it.
        case .isEntity(let entities): .isEntity(entities)
        case .and(let parts): .and(parts.map { $0.prefixed(step) })
        case .or(let parts): .or(parts.map { $0.prefixed(step) })
        case .not(let part): .not(part.prefixed(step))
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
        case .path, .value, .related: false
        case .function(_, let arguments, _): arguments.contains(where: \.looksAtEntity)
        case .conditional(let condition, let a, let b, _): condition.looksAtEntity || a.looksAtEntity || b.looksAtEntity
        }
    }
}
