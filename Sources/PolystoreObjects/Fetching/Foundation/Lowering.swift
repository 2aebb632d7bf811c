internal import PolystoreFoundation
internal import PolystoreStorage

/// The translation of a Foundation predicate to a condition, with the meaning of its variables at one position.
struct Lowering {
    /// The maximum depth, because the translation uses stack space in proportion to the depth.
    static let deepest = 200
    /// The maximum length of lists.
    static let longest = 100_000

    private var variables: [PredicateExpressions.VariableID: (level: Int, part: LoweredPart)]
    /// The number of enclosing conditions on related objects. Each has an object of its own.
    private(set) var level = 0
    private var depth = 0

    /// Creates the translation of a predicate about an object.
    init(variable: PredicateExpressions.VariableID) { variables = [variable: (0, .object(LoweredPlace(level: 0, names: [])))] }

    /// Returns the translation of a part.
    func lower(_ expression: any PredicateExpression) throws(StorageError) -> LoweredPart {
        if depth == Self.deepest { throw Self.refusal("it is nested more than \(Self.deepest) levels deep") }
        guard let lowerable = expression as? any LowerableExpression else { throw Self.unknown(expression) }
        var inner = self
        inner.depth += 1
        return try lowerable.lowered(inner)
    }

    /// Returns the meaning of a variable.
    func part(of variable: PredicateExpressions.VariableID) throws(StorageError) -> LoweredPart {
        guard let (level, part) = variables[variable] else { throw Self.refusal("it uses a variable of another predicate") }
        switch part {
        case .constant, .object, .objects: return part
        case .value(let value): return .value(try value.inside(self.level - level))
        case .condition, .optionalCondition, .range:
            if level == self.level { return part }
            throw Self.refusal("a condition on related objects uses \(part.noun) from outside of it")
        }
    }

    /// Returns the translation at the same level with one more variable.
    func binding(_ variable: PredicateExpressions.VariableID, to part: LoweredPart) -> Lowering {
        var inner = self
        inner.variables[variable] = (level, part)
        return inner
    }

    /// Returns the translation inside a condition on related objects.
    func entering(_ variable: PredicateExpressions.VariableID) -> Lowering {
        var inner = self
        inner.level += 1
        inner.variables[variable] = (inner.level, .object(LoweredPlace(level: inner.level, names: [])))
        return inner
    }

    /// Returns the error for a predicate that cannot be translated.
    static func refusal(_ reason: String) -> StorageError {
        StorageError(.invalidPredicate, "a Foundation predicate cannot be translated for a store: \(reason)")
    }

    private static func unknown(_ expression: any PredicateExpression) -> StorageError {
        let name = String(describing: type(of: expression)).prefix { $0 != "<" }
        if name.contains("Localized") || name.contains("CaseInsensitive") {
            return refusal(
                "\(name) depends on a locale; use contains(_:options:) or equal(to:options:) of a key path with .caseInsensitive or "
                    + ".diacriticInsensitive")
        }
        return refusal("stores do not support \(name)")
    }
}
