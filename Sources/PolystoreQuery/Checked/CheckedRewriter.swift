/// Rewrites a checked condition or expression. Nodes that an implementation does not change are rebuilt from their rewritten parts, in
/// normal form.
///
/// The depth is that of `CheckedNode.Visit`.
protocol CheckedRewriter {
    func rewritten(_ path: CheckedPath, _ depth: Int) -> CheckedPath
    func rewritten(_ members: CheckedMembers, _ depth: Int) -> CheckedMembers
    func rewritten(_ predicate: CheckedPredicate, _ depth: Int) -> CheckedPredicate
    func rewritten(_ expression: CheckedExpression, _ depth: Int) -> CheckedExpression
}

extension CheckedRewriter {
    func rewritten(_ path: CheckedPath, _ depth: Int) -> CheckedPath { path }
    func rewritten(_ members: CheckedMembers, _ depth: Int) -> CheckedMembers { rebuilt(members, depth) }
    func rewritten(_ predicate: CheckedPredicate, _ depth: Int) -> CheckedPredicate { rebuilt(predicate, depth) }
    func rewritten(_ expression: CheckedExpression, _ depth: Int) -> CheckedExpression { rebuilt(expression, depth) }

    func rebuilt(_ members: CheckedMembers, _ depth: Int) -> CheckedMembers {
        CheckedMembers(
            hops: members.hops, destination: members.destination, predicate: rewritten(members.predicate, depth + 1), text: members.text)
    }

    func rebuilt(_ predicate: CheckedPredicate, _ depth: Int) -> CheckedPredicate {
        switch predicate {
        case .constant, .isEntity: return predicate
        case .isNil(let path): return .isNil(rewritten(path, depth))
        case .compare(let a, let comparison, let b): return .compare(rewritten(a, depth), comparison, rewritten(b, depth))
        case .isIn(let expression, let values): return .isIn(rewritten(expression, depth), values)
        case .text(let expression, let match, let needle): return .text(rewritten(expression, depth), match, needle)
        case .related(let members):
            let members = rewritten(members, depth)
            return members.predicate == .constant(false) ? .constant(false) : .related(members)
        case .and(let parts): return .all(parts.map { rewritten($0, depth) })
        case .or(let parts): return .any(parts.map { rewritten($0, depth) })
        case .not(let part): return rewritten(part, depth).negated
        }
    }

    func rebuilt(_ expression: CheckedExpression, _ depth: Int) -> CheckedExpression {
        switch expression {
        case .path(let path): .path(rewritten(path, depth))
        case .outer(let level, let path): .outer(level, rewritten(path, depth - level))
        case .value: expression
        case .function(let function, let arguments, let type): .function(function, arguments.map { rewritten($0, depth) }, type)
        case .conditional(let condition, let a, let b, let type):
            .conditional(rewritten(condition, depth), rewritten(a, depth), rewritten(b, depth), type)
        case .related(let function, let members, let path, let type):
            .related(function, rewritten(members, depth), path.map { rewritten($0, depth + 1) }, type)
        }
    }
}
