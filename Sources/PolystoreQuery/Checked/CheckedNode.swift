/// A part of a checked condition or expression, visited by a walk.
package enum CheckedNode {
    case predicate(CheckedPredicate)
    case expression(CheckedExpression)
    /// A property that is read.
    case property(CheckedPath)
    /// Related objects that are read.
    case members(CheckedMembers)
}

extension CheckedNode {
    /// A closure called for each node.
    ///
    /// The depth of a node is the number of enclosing conditions on related objects. The depth of a property is that of its object: 0 for
    /// the row's own, negative for an object outside the visited expression.
    package typealias Visit = (_ node: CheckedNode, _ depth: Int) -> CheckedWalk

    /// Visits the node and its parts, in the order in which they are written.
    ///
    /// - Returns: Whether the walk visited everything.
    fileprivate func walk(_ depth: Int, _ visit: Visit) -> Bool {
        switch visit(self, depth) {
        case .out: false
        case .over: true
        case .into:
            switch self {
            case .predicate(let predicate): predicate.walkParts(depth, visit)
            case .expression(let expression): expression.walkParts(depth, visit)
            case .members(let members): CheckedNode.predicate(members.predicate).walk(depth + 1, visit)
            case .property: true
            }
        }
    }
}

extension CheckedPredicate {
    /// Visits the condition and all its parts, outermost first, until a visit ends the walk.
    ///
    /// - Returns: Whether the walk visited everything.
    @discardableResult
    package func walk(_ visit: CheckedNode.Visit) -> Bool { CheckedNode.predicate(self).walk(0, visit) }

    /// Returns whether a node satisfies a condition.
    package func contains(where isWanted: (_ node: CheckedNode, _ depth: Int) -> Bool) -> Bool {
        !walk { isWanted($0, $1) ? .out : .into }
    }

    fileprivate func walkParts(_ depth: Int, _ visit: CheckedNode.Visit) -> Bool {
        func walk(_ expression: CheckedExpression) -> Bool { CheckedNode.expression(expression).walk(depth, visit) }
        return switch self {
        case .constant, .isEntity: true
        case .isNil(let path): CheckedNode.property(path).walk(depth, visit)
        case .compare(let a, _, let b): walk(a) && walk(b)
        case .isIn(let expression, _), .text(let expression, _, _): walk(expression)
        case .related(let members): CheckedNode.members(members).walk(depth, visit)
        case .and(let parts), .or(let parts): parts.allSatisfy { CheckedNode.predicate($0).walk(depth, visit) }
        case .not(let part): CheckedNode.predicate(part).walk(depth, visit)
        }
    }
}

extension CheckedExpression {
    /// Visits the expression and all its parts, outermost first, until a visit ends the walk.
    ///
    /// - Returns: Whether the walk visited everything.
    @discardableResult
    package func walk(_ visit: CheckedNode.Visit) -> Bool { CheckedNode.expression(self).walk(0, visit) }

    /// Returns whether a node satisfies a condition.
    package func contains(where isWanted: (_ node: CheckedNode, _ depth: Int) -> Bool) -> Bool {
        !walk { isWanted($0, $1) ? .out : .into }
    }

    fileprivate func walkParts(_ depth: Int, _ visit: CheckedNode.Visit) -> Bool {
        func walk(_ node: CheckedNode, _ depth: Int) -> Bool { node.walk(depth, visit) }
        return switch self {
        case .path(let path): walk(.property(path), depth)
        case .outer(let level, let path): walk(.property(path), depth - level)
        case .value: true
        case .function(_, let arguments, _): arguments.allSatisfy { walk(.expression($0), depth) }
        case .conditional(let condition, let a, let b, _):
            walk(.predicate(condition), depth) && walk(.expression(a), depth) && walk(.expression(b), depth)
        case .related(_, let members, let path, _):
            walk(.members(members), depth) && path.map { walk(.property($0), depth + 1) } ?? true
        }
    }
}
