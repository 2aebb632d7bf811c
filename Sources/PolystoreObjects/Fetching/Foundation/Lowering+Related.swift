internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.SequenceContainsWhere: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence)
        switch part {
        case .objects(let place, let condition):
            let test = try lowering.inside(variable.key, test)
            return .condition(try lowering.related(.any, place, condition.map { $0 && test } ?? test))
        case .constant(let list as LHS.Output):
            let tests = try lowering.tests(variable.key, test, of: list)
            return .condition(LoweredCondition(.or(tests)))
        case .value, .condition, .optionalCondition, .object, .range, .constant:
            throw Lowering.refusal("contains(where:) is called on \(part.noun) of type \(LHS.Output.self)")
        }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence)
        switch part {
        case .objects(let place, let condition):
            let test = try lowering.inside(variable.key, test)
            return .condition(try lowering.related(.all, place, condition.map { !$0 || test } ?? test))
        case .constant(let list as LHS.Output):
            let tests = try lowering.tests(variable.key, test, of: list)
            return .condition(LoweredCondition(.and(tests)))
        case .value, .condition, .optionalCondition, .object, .range, .constant:
            throw Lowering.refusal("allSatisfy is called on \(part.noun) of type \(LHS.Output.self)")
        }
    }
}

extension PredicateExpressions.Filter: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence)
        guard case .objects(let place, let condition) = part else {
            throw Lowering.refusal("filter is called on \(part.noun) of type \(LHS.Output.self)")
        }
        let test = try lowering.inside(variable.key, filter)
        return .objects(place, condition.map { $0 && test } ?? test)
    }
}

extension Lowering {
    /// Returns a condition on the destinations of relationships.
    func related(
        _ quantifier: Quantifier, _ place: LoweredPlace, _ condition: QueryPredicate
    ) throws(StorageError) -> LoweredCondition {
        // `any` of no objects is false.
        LoweredCondition(
            .related(quantifier, try relationship(place), condition), nilPlaces: quantifier == .any ? place.prefixes : [])
    }

    /// Returns the relationship path, which must belong to the object of the current condition.
    func relationship(_ place: LoweredPlace) throws(StorageError) -> PropertyPath {
        if place.level == level { return place.path }
        throw Self.refusal(
            "a condition on related objects uses the relationship \(place.path) of an outer object; it can use only single values of it")
    }

    /// Returns a condition on related objects.
    fileprivate func inside(
        _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression
    ) throws(StorageError) -> QueryPredicate {
        let inner = entering(variable)
        return try inner.condition(inner.lower(test)).predicate
    }

    /// Returns the conditions of a test for the elements of a captured list.
    fileprivate func tests(
        _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression, of list: some Sequence
    ) throws(StorageError) -> [QueryPredicate] {
        var tests: [QueryPredicate] = []
        for element in list {
            if tests.count == Self.longest { throw Self.refusal("a captured list has more than \(Self.longest) values") }
            let inner = binding(variable, to: .constant(unwrapping(element)))
            tests.append(try inner.condition(inner.lower(test)).predicate)
        }
        return tests
    }
}
