internal import Foundation
internal import PolystoreStorage

extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence)
        switch part {
        case .objects(let names, let condition):
            let test = try lowering.inside(variable.key, test)
            return .condition(LoweredCondition(related: .any, names, condition.map { $0 && test } ?? test))
        case .constant(let list as LHS.Output):
            let tests = try lowering.tests(variable.key, test, of: list)
            return .condition(LoweredCondition(.or(tests)))
        case .value, .condition, .optionalCondition, .object, .range, .constant:
            throw Lowering.refusal("contains(where:) is asked of \(part.noun) of type \(LHS.Output.self)")
        }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence)
        switch part {
        case .objects(let names, let condition):
            let test = try lowering.inside(variable.key, test)
            return .condition(LoweredCondition(related: .all, names, condition.map { !$0 || test } ?? test))
        case .constant(let list as LHS.Output):
            let tests = try lowering.tests(variable.key, test, of: list)
            return .condition(LoweredCondition(.and(tests)))
        case .value, .condition, .optionalCondition, .object, .range, .constant:
            throw Lowering.refusal("allSatisfy is asked of \(part.noun) of type \(LHS.Output.self)")
        }
    }
}

extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence)
        guard case .objects(let names, let condition) = part else {
            throw Lowering.refusal("filter is asked of \(part.noun) of type \(LHS.Output.self)")
        }
        let test = try lowering.inside(variable.key, filter)
        return .objects(names, condition.map { $0 && test } ?? test)
    }
}

extension Lowering {
    /// A condition on related objects.
    fileprivate func inside(
        _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression
    ) throws(StorageError) -> PolystoreQuery.Predicate {
        let inner = entering(variable)
        return try inner.condition(inner.lower(test)).predicate
    }

    /// The conditions that a test makes of the elements of a captured list.
    fileprivate func tests(
        _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression, of list: some Sequence
    ) throws(StorageError) -> [PolystoreQuery.Predicate] {
        var tests: [PolystoreQuery.Predicate] = []
        for element in list {
            if tests.count == Self.longest { throw Self.refusal("a list may have \(Self.longest) values") }
            let inner = binding(variable, to: .constant(Constants.unwrapping(element)))
            tests.append(try inner.condition(inner.lower(test)).predicate)
        }
        return tests
    }
}

extension LoweredCondition {
    /// A condition on the objects that relationships lead to.
    init(related quantifier: Quantifier, _ names: [String], _ condition: PolystoreQuery.Predicate) {
        // Of nothing, any is false.
        self.init(
            .related(quantifier, PropertyPath(names), condition), nilPaths: quantifier == .any ? PropertyPath.prefixes(names) : [])
    }
}
