/// A part of a condition or expression that is not yet checked.
enum QueryNode {
    case predicate(QueryPredicate)
    case expression(QueryExpression)
}

extension QueryNode {
    /// Returns whether the node or a part of it satisfies a condition. The depth is the number of conditions on related objects around a
    /// node.
    fileprivate func contains(_ depth: Int, _ isWanted: (_ node: QueryNode, _ depth: Int) -> Bool) -> Bool {
        if isWanted(self, depth) { return true }
        func any(_ predicate: QueryPredicate, _ depth: Int) -> Bool { QueryNode.predicate(predicate).contains(depth, isWanted) }
        func any(_ expression: QueryExpression) -> Bool { QueryNode.expression(expression).contains(depth, isWanted) }
        return switch self {
        case .predicate(let predicate):
            switch predicate.node {
            case .constant, .isEntity: false
            case .compare(let a, _, let b): any(a) || any(b)
            case .isIn(let expression, _), .text(let expression, _, _), .open(let expression, _, _): any(expression)
            case .between(let a, let b, let c): any(a) || any(b) || any(c)
            case .related(_, _, let inner): any(inner, depth + 1)
            case .and(let parts), .or(let parts): parts.contains { any($0, depth) }
            case .not(let part), .quantified(_, let part): any(part, depth)
            }
        case .expression(let expression):
            switch expression.node {
            case .path, .outer, .value, .variable: false
            case .function(_, let arguments): arguments.contains(where: any)
            case .conditional(let condition, let a, let b): any(condition, depth) || any(a) || any(b)
            case .related(let aggregate): aggregate.predicate.map { any($0, depth + 1) } ?? false
            case .aggregate(let aggregate): aggregate.argument.map(any) ?? false
            }
        }
    }
}

extension QueryPredicate {
    /// Returns whether the condition or a part of it satisfies a test. The depth is the number of conditions on related objects around a
    /// node.
    func contains(where isWanted: (_ node: QueryNode, _ depth: Int) -> Bool) -> Bool { QueryNode.predicate(self).contains(0, isWanted) }
}

extension QueryExpression {
    /// Returns whether the expression or a part of it satisfies a test. The depth is the number of conditions on related objects around a
    /// node.
    func contains(where isWanted: (_ node: QueryNode, _ depth: Int) -> Bool) -> Bool { QueryNode.expression(self).contains(0, isWanted) }
}
