internal import PolystoreStorage

/// A condition, with the paths for which it is known to be false.
struct LoweredCondition {
    let predicate: QueryPredicate
    /// The paths for which a nil makes the condition false.
    let nilPlaces: Set<LoweredPlace>

    init(_ predicate: QueryPredicate, nilPlaces: Set<LoweredPlace> = []) {
        self.predicate = predicate
        self.nilPlaces = nilPlaces
    }

    static func && (a: LoweredCondition, b: LoweredCondition) -> LoweredCondition {
        LoweredCondition(a.predicate && b.predicate, nilPlaces: a.nilPlaces.union(b.nilPlaces))
    }

    static func || (a: LoweredCondition, b: LoweredCondition) -> LoweredCondition {
        LoweredCondition(a.predicate || b.predicate, nilPlaces: a.nilPlaces.intersection(b.nilPlaces))
    }

    static prefix func ! (a: LoweredCondition) -> LoweredCondition { LoweredCondition(!a.predicate) }

    /// Creates a text match.
    init(_ value: LoweredValue, _ match: TextMatch, _ needle: String) {
        self.init(.text(value.expression, match, needle), nilPlaces: value.nilPlaces)
    }
}
