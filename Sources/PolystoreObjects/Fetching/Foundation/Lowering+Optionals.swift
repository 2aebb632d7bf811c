internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.OptionalFlatMap: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(wrapped)
        switch part {
        case .constant(nil): return part
        case .constant: return try lowering.binding(variable.key, to: part).lower(transform)
        case .object(let place):
            let inner = try lowering.binding(variable.key, to: part).lower(transform)
            return place.names.isEmpty ? inner : try chained(inner, LoweredValue(place, at: lowering.level), lowering)
        case .value(let value): return try chained(try lowering.binding(variable.key, to: part).lower(transform), value, lowering)
        case .condition, .optionalCondition, .objects, .range:
            throw Lowering.refusal("it unwraps \(part.noun) of type \(LHS.Output.self), which is not an optional value")
        }
    }

    /// Returns a part that is nil if the wrapped value is nil.
    private func chained(_ part: LoweredPart, _ wrapped: LoweredValue, _ lowering: Lowering) throws(StorageError) -> LoweredPart {
        switch part {
        case .condition(let condition): return .optionalCondition(OptionalCondition(condition: condition, needed: [wrapped]))
        case .optionalCondition(let inner):
            return .optionalCondition(OptionalCondition(condition: inner.condition, needed: [wrapped] + inner.needed))
        // A path through nil is nil.
        case .object(let found), .objects(let found, _):
            if let place = wrapped.place, found.begins(with: place) { return part }
        case .value, .constant:
            let value = try lowering.value(part)
            if let place = wrapped.place, value.nilPlaces.contains(place) { return part }
            let isPresent = QueryPredicate.compare(wrapped.expression, .notEqual, .value(.null))
            return .value(LoweredValue(.conditional(isPresent, value.expression, .value(.null)), nilPlaces: wrapped.nilPlaces))
        case .range: break
        }
        throw Lowering.refusal("an optional chain ends in \(part.noun) that is not a property of the unwrapped value")
    }
}

extension PredicateExpressions.ForcedUnwrap: LowerableExpression {
    /// Returns the inner part: nil is propagated, and nothing fails.
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(inner)
        if case .constant(nil) = part { throw Lowering.refusal("it unwraps a captured nil") }
        return part
    }
}

extension PredicateExpressions.NilCoalesce: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(lhs), other = try lowering.lower(rhs)
        switch part {
        case .constant(nil): return other
        case .constant: return part
        case .optionalCondition(let optional): return .condition(try optional.or(other, lowering))
        case .value(let value):
            if let truth = (other.captured as? Bool) {
                // A nil Boolean is replaced by the other value: the comparison with the opposite decides.
                let comparison: PolystoreQuery.Comparison = truth ? .notEqual : .equal
                let predicate = QueryPredicate.compare(value.expression, comparison, .value(.bool(!truth)))
                return .condition(LoweredCondition(predicate, nilPlaces: truth ? [] : value.nilPlaces))
            }
            return .value(LoweredValue(.function(.coalesce, [value.expression, try lowering.value(other).expression])))
        case .object:
            return .value(
                LoweredValue(.function(.coalesce, [try lowering.value(part).expression, try lowering.value(other).expression])))
        case .condition, .objects, .range: throw Lowering.refusal("the left side of ?? is \(part.noun) of type \(LHS.Output.self)")
        }
    }
}

extension OptionalCondition {
    /// Returns the condition if all required values are present, and otherwise another one.
    fileprivate func or(_ other: LoweredPart, _ lowering: Lowering) throws(StorageError) -> LoweredCondition {
        switch other.captured as? Bool {
        case false?: isTrue
        case true?: !isFalse
        case nil: isTrue || (!isPresent && (try lowering.condition(other)))
        }
    }
}

extension LoweredPart {
    /// The captured value, if any.
    var captured: Any? { if case .constant(let constant) = self { constant } else { nil } }
}
