/// A part of a checked condition or expression, as a walk meets it.
package enum CheckedNode {
    case predicate(CheckedPredicate)
    case expression(CheckedExpression)
    /// A property that is read.
    case property(CheckedPath)
    /// Related objects that are looked at.
    case members(CheckedMembers)
}

/// How a walk goes on after a node.
package enum CheckedWalk {
    /// To the parts of the node.
    case into
    /// To what follows the node, past its parts.
    case over
    /// Nowhere: the walk ends.
    case out
}

extension CheckedNode {
    /// What is done at each node.
    ///
    /// The depth of a node is the number of conditions on related objects around it; that of a property is the depth of the object whose it
    /// is: 0 for the row's own, less for that of an object outside of everything that is walked through.
    package typealias Visit = (_ node: CheckedNode, _ depth: Int) -> CheckedWalk

    /// Visits the node and its parts, in the order in which they are written.
    ///
    /// - Returns: Whether the walk went to the end.
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
    /// Visits the condition and all that is in it, from outside in, until a visit ends the walk.
    ///
    /// - Returns: Whether the walk went to the end.
    @discardableResult
    package func walk(_ visit: CheckedNode.Visit) -> Bool { CheckedNode.predicate(self).walk(0, visit) }

    /// Whether something is true of a node.
    package func contains(where isWanted: (_ node: CheckedNode, _ depth: Int) -> Bool) -> Bool {
        !walk { isWanted($0, $1) ? .out : .into }
    }

    fileprivate func walkParts(_ depth: Int, _ visit: CheckedNode.Visit) -> Bool {
        func walk(_ path: CheckedPath) -> Bool { CheckedNode.property(path).walk(depth, visit) }
        func walk(_ expression: CheckedExpression) -> Bool { CheckedNode.expression(expression).walk(depth, visit) }
        return switch self {
        case .constant, .isEntity: true
        case .isNil(let path), .compare(let path, _, _), .isIn(let path, _), .text(let path, _, _): walk(path)
        case .comparePaths(let a, _, let b): walk(a) && walk(b)
        case .compareExpressions(let a, _, let b): walk(a) && walk(b)
        case .isInExpression(let expression, _), .textOf(let expression, _, _): walk(expression)
        case .related(let members): CheckedNode.members(members).walk(depth, visit)
        case .and(let parts), .or(let parts): parts.allSatisfy { CheckedNode.predicate($0).walk(depth, visit) }
        case .not(let part): CheckedNode.predicate(part).walk(depth, visit)
        }
    }
}

extension CheckedExpression {
    /// Visits the expression and all that is in it, from outside in, until a visit ends the walk.
    ///
    /// - Returns: Whether the walk went to the end.
    @discardableResult
    package func walk(_ visit: CheckedNode.Visit) -> Bool { CheckedNode.expression(self).walk(0, visit) }

    /// Whether something is true of a node.
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
