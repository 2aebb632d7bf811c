internal import PolystoreFoundation
internal import PolystoreStorage

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence), element = try lowering.lower(element)
        switch part {
        case .objects(let place, let condition): return .condition(try contains(element, place, condition, lowering))
        case .value(let text):
            if let type = LHS.Output.self as? any AttributeValue.Type, type.isWhole { throw Lowering.refusalOfPart(LHS.Output.self) }
            return .condition(LoweredCondition(text, .contains, try lowering.text(element)))
        case .constant(let constant):
            guard let list = constant as? LHS.Output else { break }
            if case .object(let place) = element {
                return .condition(LoweredValue(place, at: lowering.level).isIn(try Constants.values(list, areObjects: true)))
            }
            return .condition(try lowering.value(element).isIn(try Constants.values(list, areObjects: false)))
        case .condition, .optionalCondition, .object, .range: break
        }
        throw Lowering.refusal("contains is called on \(part.noun) of type \(LHS.Output.self)")
    }

    /// Returns whether an object is among related ones.
    private func contains(
        _ element: LoweredPart, _ place: LoweredPlace, _ condition: QueryPredicate?, _ lowering: Lowering
    ) throws(StorageError) -> LoweredCondition {
        let object: QueryExpression
        switch element {
        case .constant(let constant): object = .value(try Constants.identity(constant))
        case .object(let other): object = LoweredValue(other, at: lowering.level + 1).expression
        case .value, .condition, .optionalCondition, .objects, .range:
            throw Lowering.refusal("it searches related objects for \(element.noun)")
        }
        let isObject = QueryPredicate.compare(.path(.object), .equal, object)
        return try lowering.related(.any, place, condition.map { $0 && isObject } ?? isObject)
    }
}

extension LoweredValue {
    fileprivate func isIn(_ values: [Value]) -> LoweredCondition {
        LoweredCondition(.isIn(expression, values), nilPlaces: values.contains(.null) ? [] : nilPlaces)
    }
}

extension PredicateExpressions.CollectionContainsCollection: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .condition(try lowering.match(lowering.lower(base), .contains, lowering.lower(other)))
    }
}

extension PredicateExpressions.SequenceStartsWith: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .condition(try lowering.match(lowering.lower(base), .beginsWith, lowering.lower(prefix)))
    }
}

extension Lowering {
    /// Returns a condition for whether a text matches a captured one.
    func match(_ base: LoweredPart, _ match: TextMatch, _ needle: LoweredPart) throws(StorageError) -> LoweredCondition {
        guard case .value(let text) = base else { throw Self.refusal("\(match.rawValue) is called on \(base.noun), not on a text") }
        return LoweredCondition(text, match, try self.text(needle))
    }
}

extension PredicateExpressions.StringContainsRegex: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        throw Lowering.refusal("stores do not support Swift regular expressions; use matches(_:options:) of a key path")
    }
}

extension PredicateExpressions.SequenceMaximum: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .constant(unwrapping(try lowering.captured(elements).max()))
    }
}

extension PredicateExpressions.SequenceMinimum: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .constant(unwrapping(try lowering.captured(elements).min()))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let list = try lowering.captured(wrapped), index = try lowering.captured(index)
        guard index >= list.startIndex, index < list.endIndex else {
            throw Lowering.refusal("an index is out of the bounds of a captured list")
        }
        return .constant(unwrapping(list[index]))
    }
}

extension PredicateExpressions.DictionaryKeySubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .constant(unwrapping(try lowering.captured(wrapped)[try lowering.captured(key)]))
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let found = try lowering.captured(wrapped)[try lowering.captured(key)]
        if let found { return .constant(unwrapping(found)) }
        return try lowering.lower(self.default)
    }
}

extension Lowering {
    /// Returns the captured list of a part, for uses that a list in a store does not support.
    fileprivate func captured<Part: PredicateExpression>(_ expression: Part) throws(StorageError) -> Part.Output {
        let part = try lower(expression)
        guard let list = part.captured as? Part.Output else {
            throw Self.refusal("it reads an element of \(part.noun) of type \(Part.Output.self); only captured lists support this")
        }
        return list
    }
}
