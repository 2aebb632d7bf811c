internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.Conjunction: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let first = try lowering.lower(lhs)
        // As in Swift, the second operand of a captured value that decides is not considered.
        if let truth = first.captured as? Bool { return truth ? try lowering.lower(rhs) : first }
        return .condition(try lowering.condition(first) && lowering.condition(lowering.lower(rhs)))
    }
}

extension PredicateExpressions.Disjunction: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let first = try lowering.lower(lhs)
        if let truth = first.captured as? Bool { return truth ? first : try lowering.lower(rhs) }
        return .condition(try lowering.condition(first) || lowering.condition(lowering.lower(rhs)))
    }
}

extension PredicateExpressions.Negation: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(wrapped)
        if let truth = part.captured as? Bool { return .constant(!truth) }
        return .condition(!(try lowering.condition(part)))
    }
}

extension PredicateExpressions.Conditional: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(test)
        if let truth = part.captured as? Bool { return try truth ? lowering.lower(trueBranch) : lowering.lower(falseBranch) }
        let test = try lowering.condition(part)
        let first = try lowering.lower(trueBranch), second = try lowering.lower(falseBranch)
        guard Output.self == Bool.self else {
            return .value(
                LoweredValue(.conditional(test.predicate, try lowering.value(first).expression, try lowering.value(second).expression)))
        }
        switch (first.captured as? Bool, second.captured as? Bool) {
        case (nil, false?): return .condition(test && (try lowering.condition(first)))
        case (true?, nil): return .condition(test || (try lowering.condition(second)))
        case (.some, _), (nil, true?), (nil, nil):
            let a = try lowering.condition(first), b = try lowering.condition(second)
            return .condition((test && a) || (!test && b))
        }
    }
}

extension PredicateExpressions.Equal: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let a = try lowering.lower(lhs), b = try lowering.lower(rhs)
        if let isEqual = Lowering.equality(a, b, as: LHS.Output.self) { return .constant(isEqual) }
        return .condition(try lowering.equality(a, b, .equal))
    }
}

extension PredicateExpressions.NotEqual: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let a = try lowering.lower(lhs), b = try lowering.lower(rhs)
        if let isEqual = Lowering.equality(a, b, as: LHS.Output.self) { return .constant(!isEqual) }
        return .condition(try lowering.equality(a, b, .notEqual))
    }
}

extension PredicateExpressions.Comparison: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let a = try lowering.lower(lhs), b = try lowering.lower(rhs)
        guard let order = orders.first(where: { $0.name == op }) else { throw Lowering.refusal("it uses an unknown comparison operator") }
        // Predicates created from key paths have the captured value on the right.
        if case .constant = a { return .condition(try lowering.comparison(b, order.mirrored, a)) }
        return .condition(try lowering.comparison(a, order.comparison, b))
    }
}

private typealias Order = PolystoreQuery.Comparison

private let orders: [(name: PredicateExpressions.ComparisonOperator, comparison: Order, mirrored: Order)] = [
    (.lessThan, .less, .greater), (.lessThanOrEqual, .lessOrEqual, .greaterOrEqual), (.greaterThan, .greater, .less),
    (.greaterThanOrEqual, .greaterOrEqual, .lessOrEqual),
]

extension Lowering {
    /// Returns a comparison by order. It is false if a side is nil.
    func comparison(_ a: LoweredPart, _ comparison: PolystoreQuery.Comparison, _ b: LoweredPart) throws(StorageError) -> LoweredCondition {
        let x = try value(a), y = try value(b)
        return LoweredCondition(.compare(x.expression, comparison, y.expression), nilPlaces: x.nilPlaces.union(y.nilPlaces))
    }

    /// Returns whether two captured values are equal; nil for other parts.
    static func equality<V: Equatable>(_ a: LoweredPart, _ b: LoweredPart, as type: V.Type) -> Bool? {
        guard case .constant(let a) = a, case .constant(let b) = b else { return nil }
        if a == nil || b == nil { return a == nil && b == nil }
        guard let a = a as? V, let b = b as? V else { return nil }
        return a == b
    }

    /// Returns equality or inequality of values, objects or Booleans.
    func equality(
        _ a: LoweredPart, _ b: LoweredPart, _ comparison: PolystoreQuery.Comparison
    ) throws(StorageError) -> LoweredCondition {
        switch (a, b) {
        case (.constant(let constant), _): return try equality(b, constant, comparison)
        case (_, .constant(let constant)): return try equality(a, constant, comparison)
        case (.value, _), (.condition, _), (.optionalCondition, _), (.object, _), (.objects, _), (.range, _):
            return LoweredCondition(.compare(try value(a).expression, comparison, try value(b).expression))
        }
    }

    /// Returns equality or inequality with a captured value.
    private func equality(
        _ part: LoweredPart, _ constant: Any?, _ comparison: PolystoreQuery.Comparison
    ) throws(StorageError) -> LoweredCondition {
        let isEqual = comparison == .equal
        switch part {
        case .condition(let condition):
            guard let truth = constant as? Bool else { return LoweredCondition(.constant(!isEqual)) }
            return truth == isEqual ? condition : !condition
        case .optionalCondition(let optional):
            guard let truth = constant as? Bool else { return isEqual ? !optional.isPresent : optional.isPresent }
            let condition = truth ? optional.isTrue : optional.isFalse
            return isEqual ? condition : !condition
        case .object(let place): return compare(LoweredValue(place, at: level), comparison, try Constants.identity(constant))
        case .value, .constant, .objects, .range: return compare(try value(part), comparison, try Constants.value(constant))
        }
    }

    private func compare(_ value: LoweredValue, _ comparison: PolystoreQuery.Comparison, _ constant: Value) -> LoweredCondition {
        // `x == 5` and `x != nil` are false for nil; `x == nil` and `x != 5` are true for nil.
        let isFalseOfNil = (comparison == .equal) != (constant == .null)
        return LoweredCondition(
            .comparing(value.expression, comparison, .value(constant)), nilPlaces: isFalseOfNil ? value.nilPlaces : [])
    }
}
