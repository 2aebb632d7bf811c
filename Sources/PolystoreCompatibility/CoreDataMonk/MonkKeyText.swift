internal import Polystore

/// A key path before the prefix operator is applied: `"friends.age"%`, with the modifiers `any` and `all`.
public struct MonkKeyText: Sendable {
    let path: String
    var quantifier: Quantifier?

    /// The key path with the modifier for at least one related object.
    public var any: MonkKeyText { MonkKeyText(path: path, quantifier: .any) }
    /// The key path with the modifier for every related object.
    public var all: MonkKeyText { MonkKeyText(path: path, quantifier: .all) }
}
