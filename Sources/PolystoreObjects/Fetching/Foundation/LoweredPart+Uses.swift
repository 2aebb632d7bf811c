internal import PolystoreStorage

extension Lowering {
    /// Converts a part to a condition.
    func condition(_ part: LoweredPart) throws(StorageError) -> LoweredCondition {
        switch part {
        case .condition(let condition): return condition
        case .optionalCondition(let optional): return optional.isTrue
        case .value(let value):
            return LoweredCondition(.comparing(value.expression, .equal, .value(.bool(true))), nilPlaces: value.nilPlaces)
        case .constant(let constant):
            guard let truth = constant as? Bool else { throw Self.refusal("it has a captured value where a condition is expected") }
            return LoweredCondition(.constant(truth))
        case .object, .objects, .range: throw Self.refusal("it has \(part.noun) where a condition is expected")
        }
    }

    /// Converts a part to a value.
    func value(_ part: LoweredPart) throws(StorageError) -> LoweredValue {
        switch part {
        case .value(let value): return value
        case .object(let place): return LoweredValue(place, at: level)
        case .condition(let condition): return truth(of: condition)
        case .optionalCondition(let optional):
            return LoweredValue(
                .conditional(optional.isPresent.predicate, truth(of: optional.condition).expression, .value(.null)))
        case .constant(let constant): return LoweredValue(.value(try Constants.value(constant)))
        case .objects, .range: throw Self.refusal("it has \(part.noun) where a value is expected")
        }
    }

    private func truth(of condition: LoweredCondition) -> LoweredValue {
        LoweredValue(.conditional(condition.predicate, .value(.bool(true)), .value(.bool(false))))
    }

    /// Converts a part to a text that is known before the request is executed.
    func text(_ part: LoweredPart) throws(StorageError) -> String {
        if case .constant(let constant?) = part {
            if let text = constant as? String { return text }
            if let text = constant as? any StringProtocol { return String(text) }
        }
        throw Self.refusal("the searched text must be a captured value")
    }
}

extension LoweredPart {
    /// A noun for the part, for error messages.
    var noun: String {
        switch self {
        case .value: "a value"
        case .condition, .optionalCondition: "a condition"
        case .object: "an object"
        case .objects: "a to-many relationship"
        case .range: "a range"
        case .constant: "a captured value"
        }
    }
}
