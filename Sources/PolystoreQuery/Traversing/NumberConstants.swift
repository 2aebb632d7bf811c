internal import PolystoreFoundation
package import PolystoreSchema

/// Replaces numbers of an expression by equal constants of the type of the attribute that it is assigned to: a number with a point beside
/// decimals is a decimal, and a whole number by itself has the type of the attribute. Numbers in conditions stay.
private struct NumberConstants: QueryRewriter {
    let type: ValueType
    let isConstant: Bool

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate { predicate }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        guard case .value(let number) = expression.node else { return try rebuilt(expression, depth) }
        // Only a constant expression as a whole becomes the type: in others the attributes decide the type of the arithmetic.
        if type == .decimal, case .double(let number) = number {
            return Decimal(string: "\(number)").map { .value(.decimal($0)) } ?? expression
        }
        guard case .int(let number) = number, isConstant else { return expression }
        if type == .decimal { return .value(.decimal(Decimal(number))) }
        if type == .double, Int64(exactly: Double(number)) == number { return .value(.double(Double(number))) }
        return expression
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
