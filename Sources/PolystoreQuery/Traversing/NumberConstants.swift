internal import Foundation
package import PolystoreSchema

/// Replaces numbers of an expression by equal constants of the type of the attribute that it is assigned to: a number with a point beside
/// decimals is a decimal, and a whole number by itself has the type of the attribute. Numbers in conditions stay.
private struct NumberConstants: QueryRewriter {
    let type: ValueType
    let isConstant: Bool

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate { predicate }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        guard case .value(let number) = expression.node else { return try rebuilt(expression, depth) }
        switch (number, type) {
        case (.double(let number), .decimal): return Decimal(string: "\(number)").map { .value(.decimal($0)) } ?? expression
        case (.int(let number), .decimal): return isConstant ? .value(.decimal(Decimal(number))) : expression
        case (.int(let number), .double):
            return isConstant && Int64(exactly: Double(number)) == number ? .value(.double(Double(number))) : expression
        default: return expression
        }
    }
}

extension QueryExpression {
    /// Returns the expression for the value of an attribute of a type: numbers in it are constants of that type where this is exact.
    package func numbers(for type: ValueType) throws(QueryError) -> QueryExpression {
        var constants = NumberConstants(type: type, isConstant: isConstant)
        return try constants.rewritten(self, 0)
    }

    /// Whether it is computed from constants only.
    package var isConstant: Bool {
        switch node {
        case .value: true
        case .function(_, let arguments): arguments.allSatisfy(\.isConstant)
        case .path, .outer, .variable, .aggregate, .conditional, .related: false
        }
    }
}
