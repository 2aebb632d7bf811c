extension CheckedPredicate {
    /// Returns a conjunction in normal form: flattened, with constants folded.
    static func all(_ parts: [CheckedPredicate]) -> CheckedPredicate {
        var result: [CheckedPredicate] = []
        for part in parts {
            switch part {
            case .constant(true): continue
            case .constant(false): return .constant(false)
            case .and(let inner): result += inner
            case .isNil, .compare, .isIn, .text, .related, .isEntity, .or, .not: result.append(part)
            }
        }
        return result.isEmpty ? .constant(true) : (result.count == 1 ? result[0] : .and(inOrder(result)))
    }

    /// Returns a disjunction in normal form: flattened, with constants folded.
    static func any(_ parts: [CheckedPredicate]) -> CheckedPredicate {
        var result: [CheckedPredicate] = []
        for part in parts {
            switch part {
            case .constant(false): continue
            case .constant(true): return .constant(true)
            case .or(let inner): result += inner
            case .isNil, .compare, .isIn, .text, .related, .isEntity, .and, .not: result.append(part)
            }
        }
        return result.isEmpty ? .constant(false) : (result.count == 1 ? result[0] : .or(inOrder(result)))
    }

    /// Returns the parts of a conjunction or disjunction in the order in which they are evaluated: those that cannot fail, then the others,
    /// both as they are written. A failure then does not depend on the part that a store answers first, for example by an index.
    private static func inOrder(_ parts: [CheckedPredicate]) -> [CheckedPredicate] {
        var safe: [CheckedPredicate] = [], failing: [CheckedPredicate] = []
        for part in parts { if part.canFail { failing.append(part) } else { safe.append(part) } }
        return safe + failing
    }

    /// The negation in normal form: `not` occurs only before leaves (De Morgan).
    var negated: CheckedPredicate {
        switch self {
        case .constant(let value): .constant(!value)
        case .not(let part): part
        case .and(let parts): .any(parts.map(\.negated))
        case .or(let parts): .all(parts.map(\.negated))
        // Negated as a whole, which keeps the statements for pairs of properties as they are.
        case .compare(.path, _, .path): .not(self)
        case .compare(let a, .equal, let b): .compare(a, .notEqual, b)
        case .compare(let a, .notEqual, let b): .compare(a, .equal, b)
        case .isNil, .compare, .isIn, .text, .related, .isEntity: .not(self)
        }
    }
}
