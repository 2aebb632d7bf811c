internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.Range: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .range(try lowering.value(lowering.lower(lower)), try lowering.value(lowering.lower(upper)), includesUpper: false)
    }
}

extension PredicateExpressions.ClosedRange: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .range(try lowering.value(lowering.lower(lower)), try lowering.value(lowering.lower(upper)), includesUpper: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let value = try lowering.value(lowering.lower(element))
        let part = try lowering.lower(range)
        switch part {
        case .range(let low, let high, let includesUpper): return .condition(contains(value, low, high, includesUpper))
        case .constant(let constant as any AnyRange):
            let bounds = constant.bounds
            return .condition(contains(value, try bound(bounds.lower), try bound(bounds.upper), bounds.includesUpper))
        case .value, .condition, .optionalCondition, .object, .objects, .constant:
            throw Lowering.refusal("it has \(part.noun) of type \(RangeExpression.Output.self) where a range is expected")
        }
    }

    private func bound(_ constant: Any?) throws(StorageError) -> LoweredValue? {
        guard let constant else { return nil }
        return LoweredValue(.value(try Constants.value(constant)))
    }

    private func contains(
        _ value: LoweredValue, _ low: LoweredValue?, _ high: LoweredValue?, _ includesUpper: Bool
    ) -> LoweredCondition {
        if let low, let high, includesUpper {
            return LoweredCondition(
                .between(value.expression, low.expression, high.expression),
                nilPlaces: value.nilPlaces.union(low.nilPlaces).union(high.nilPlaces))
        }
        let lower = low.map { LoweredCondition(.compare(value.expression, .greaterOrEqual, $0.expression), nilPlaces: value.nilPlaces) }
        let upper = high.map {
            LoweredCondition(.compare(value.expression, includesUpper ? .lessOrEqual : .less, $0.expression), nilPlaces: value.nilPlaces)
        }
        switch (lower, upper) {
        case (let lower?, let upper?): return lower && upper
        case (let bound?, nil), (nil, let bound?): return bound
        case (nil, nil): return LoweredCondition(.compare(value.expression, .notEqual, .value(.null)), nilPlaces: value.nilPlaces)
        }
    }
}
