internal import Foundation
internal import PolystoreStorage

extension PredicateExpressions.SequenceContains: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let part = try lowering.lower(sequence), element = try lowering.lower(element)
        switch part {
        case .objects(let names, let condition): return .condition(try contains(element, names, condition))
        case .value(let text): return .condition(LoweredCondition(text, .contains, try lowering.text(element)))
        case .constant(let constant):
            guard let list = constant as? LHS.Output else { break }
            if case .object(let names) = element {
                return .condition(LoweredValue(names: names).isIn(try Constants.values(list, areObjects: true)))
            }
            return .condition(try lowering.value(element).isIn(try Constants.values(list, areObjects: false)))
        case .condition, .optionalCondition, .object, .range: break
        }
        throw Lowering.refusal("contains is asked of \(part.noun) of type \(LHS.Output.self)")
    }

    /// Whether an object is among related ones.
    private func contains(
        _ element: LoweredPart, _ names: [String], _ condition: PolystoreQuery.Predicate?
    ) throws(StorageError) -> LoweredCondition {
        guard case .constant(let constant) = element else {
            throw Lowering.refusal("it looks for \(element.noun) among related objects; only a captured object has a place there")
        }
        let isObject = PolystoreQuery.Predicate.compare(.path(.object), .equal, .value(try Constants.key(constant)))
        return LoweredCondition(related: .any, names, condition.map { $0 && isObject } ?? isObject)
    }
}

extension LoweredValue {
    fileprivate func isIn(_ values: [Value]) -> LoweredCondition {
        LoweredCondition(.isIn(expression, values), nilPaths: values.contains(.null) ? [] : nilPaths)
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
    fileprivate func match(_ base: LoweredPart, _ match: TextMatch, _ needle: LoweredPart) throws(StorageError) -> LoweredCondition {
        guard case .value(let text) = base else { throw Self.refusal("\(match.rawValue) is asked of \(base.noun), not of a text") }
        return LoweredCondition(text, match, try self.text(needle))
    }
}

extension PredicateExpressions.StringContainsRegex: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        throw Lowering.refusal("regular expressions of Swift are more than stores know; use matches(_:options:) of a key path")
    }
}

extension PredicateExpressions.SequenceMaximum: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .constant(Constants.unwrapping(try lowering.captured(elements).max()))
    }
}

extension PredicateExpressions.SequenceMinimum: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .constant(Constants.unwrapping(try lowering.captured(elements).min()))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        let list = try lowering.captured(wrapped), index = try lowering.captured(index)
        guard index >= list.startIndex, index < list.endIndex else {
            throw Lowering.refusal("a captured list is read outside of its bounds")
        }
        return .constant(Constants.unwrapping(list[index]))
    }
}

extension PredicateExpressions.DictionaryKeySubscript: LowerableExpression {
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart {
        .constant(Constants.unwrapping(try lowering.captured(wrapped)[try lowering.captured(key)]))
    }
}

extension Lowering {
    /// The captured list that a part stands for, where no list of a store can.
    fileprivate func captured<Part: PredicateExpression>(_ expression: Part) throws(StorageError) -> Part.Output {
        let part = try lower(expression)
        guard let list = part.captured as? Part.Output else {
            throw Self.refusal("an element of \(part.noun) of type \(Part.Output.self) is asked for, which only captured lists give")
        }
        return list
    }
}
