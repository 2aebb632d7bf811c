internal import Foundation
internal import PolystoreStorage

/// A part of a Foundation predicate that has a meaning here.
protocol LowerableExpression {
    /// What the part becomes.
    func lowered(_ lowering: Lowering) throws(StorageError) -> LoweredPart
}

/// The way from a Foundation predicate to a condition: what its variables stand for at one place of it.
struct Lowering {
    /// Deeper predicates are refused: they are lowered with stack in proportion.
    static let deepest = 200
    /// Longer lists are refused.
    static let longest = 100_000

    private var variables: [PredicateExpressions.VariableID: (level: Int, part: LoweredPart)]
    /// How many conditions on related objects the place is inside of: each is about objects of its own.
    private(set) var level = 0
    private var depth = 0

    /// The way of a predicate about an object.
    init(variable: PredicateExpressions.VariableID) { variables = [variable: (0, .object(LoweredPlace(level: 0, names: [])))] }

    /// What a part becomes.
    func lower(_ expression: any PredicateExpression) throws(StorageError) -> LoweredPart {
        if depth == Self.deepest { throw Self.refusal("a predicate may be \(Self.deepest) levels deep") }
        guard let lowerable = expression as? any LowerableExpression else { throw Self.unknown(expression) }
        var inner = self
        inner.depth += 1
        return try lowerable.lowered(inner)
    }

    /// What a variable stands for.
    func part(of variable: PredicateExpressions.VariableID) throws(StorageError) -> LoweredPart {
        guard let (level, part) = variables[variable] else { throw Self.refusal("it uses a variable of another predicate") }
        switch part {
        case .constant, .object, .objects: return part
        case .value(let value): return .value(try value.inside(self.level - level))
        case .condition, .optionalCondition, .range:
            if level == self.level { return part }
            throw Self.refusal("a condition on related objects looks at \(part.noun) that was made outside of it")
        }
    }

    /// The same place with one more variable.
    func binding(_ variable: PredicateExpressions.VariableID, to part: LoweredPart) -> Lowering {
        var inner = self
        inner.variables[variable] = (level, part)
        return inner
    }

    /// The inside of a condition on related objects.
    func entering(_ variable: PredicateExpressions.VariableID) -> Lowering {
        var inner = self
        inner.level += 1
        inner.variables[variable] = (inner.level, .object(LoweredPlace(level: inner.level, names: [])))
        return inner
    }

    /// Why a predicate has no meaning here.
    static func refusal(_ reason: String) -> StorageError {
        StorageError(.invalidPredicate, "a Foundation predicate has no meaning here: \(reason)")
    }

    private static func unknown(_ expression: any PredicateExpression) -> StorageError {
        let name = String(describing: type(of: expression)).prefix { $0 != "<" }
        if name.contains("Localized") || name.contains("CaseInsensitive") {
            return refusal(
                "\(name) depends on a locale; use contains(_:options:) or equal(to:options:) of a key path with .caseInsensitive or "
                    + ".diacriticInsensitive")
        }
        return refusal("\(name) cannot be asked of a store")
    }
}
