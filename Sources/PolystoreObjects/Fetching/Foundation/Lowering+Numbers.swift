internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.Arithmetic: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let functions: [(name: PredicateExpressions.ArithmeticOperator, function: Function)] = [
            (.add, .add), (.subtract, .subtract), (.multiply, .multiply),
        ]
        guard let found = functions.first(where: { $0.name == op }) else {
            throw Lowering.refusal("it uses an unknown arithmetic operator")
        }
        return .value(try lowering.apply(found.function, lhs, rhs))
    }
}

extension PredicateExpressions.IntDivision: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart { .value(try lowering.apply(.divide, lhs, rhs)) }
}

extension PredicateExpressions.IntRemainder: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart { .value(try lowering.apply(.modulo, lhs, rhs)) }
}

extension PredicateExpressions.FloatDivision: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart { .value(try lowering.apply(.divide, lhs, rhs)) }
}

extension PredicateExpressions.UnaryMinus: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(wrapped)
        // A negative literal, in the form that predicates created from key paths use.
        if case .constant(let constant?) = part, let number = constant as? Int, number != .min { return .constant(-number) }
        if case .constant(let constant?) = part, let number = constant as? Double { return .constant(-number) }
        return .value(LoweredValue(.negate, [try lowering.value(part)]))
    }
}

extension Lowering {
    fileprivate func apply(
        _ function: Function, _ a: any PredicateExpression, _ b: any PredicateExpression
    ) throws(StorageError) -> LoweredValue {
        LoweredValue(function, [try value(lower(a)), try value(lower(b))])
    }
}
