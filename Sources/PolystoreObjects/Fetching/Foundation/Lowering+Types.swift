internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.TypeCheck: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(input)
        if case .object(LoweredPlace(level: lowering.level, names: [])) = part, let type = Desired.self as? ManagedObject.Type {
            return .condition(LoweredCondition(.isEntity(type.declaration.name)))
        }
        if case .constant(let constant) = part { return .constant(constant is Desired) }
        throw Lowering.refusal(
            "it tests whether \(part.noun) is of type \(Desired.self); only the class of the fetched object itself can be tested")
    }
}

extension PredicateExpressions.ForceCast: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        try lowering.cast(lowering.lower(input), Input.Output.self, to: Desired.self)
    }
}

extension PredicateExpressions.ConditionalCast: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(input)
        if case .constant(let constant) = part { return .constant((constant as? Desired).flatMap { unwrapping($0) }) }
        return try lowering.cast(part, Input.Output.self, to: Desired.self)
    }
}

extension Lowering {
    /// Returns the same part as another type, of which every value of the original type must be a value.
    fileprivate func cast<Own, Desired>(_ part: LoweredPart, _ own: Own.Type, to desired: Desired.Type) throws(StorageError) -> LoweredPart
    {
        if case .constant(let constant) = part {
            if let constant = constant as? Desired { return .constant(unwrapping(constant)) }
            // A literal of one character is captured as a string.
            if desired is Character.Type, let text = constant as? String, text.count == 1 { return part }
        } else if own == desired || (desired as? any AnyOptional.Type)?.wrappedType == own {
            return part
        } else if let own = own as? AnyClass, let desired = desired as? AnyClass, Self.isSubclass(own, of: desired) {
            return part
        }
        throw Self.refusal("it casts \(part.noun) of type \(own) to \(desired), which stores do not support")
    }

    private static func isSubclass(_ type: AnyClass, of other: AnyClass) -> Bool {
        var current: AnyClass? = type
        while let next = current {
            if next == other { return true }
            current = _getSuperclass(next)
        }
        return false
    }
}
