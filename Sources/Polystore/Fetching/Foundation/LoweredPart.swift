internal import PolystoreStorage

/// What a part of a Foundation predicate becomes; its use decides what is made of it.
enum LoweredPart {
    /// A value for each object.
    case value(LoweredValue)
    /// A condition.
    case condition(LoweredCondition)
    /// A condition that is nil where something is missing.
    case optionalCondition(OptionalCondition)
    /// The object itself, or the one that relationships lead to.
    case object(LoweredPlace)
    /// The objects that relationships lead to, those that satisfy a condition.
    case objects(LoweredPlace, QueryPredicate?)
    /// The values from one bound to another; no bound is none.
    case range(LoweredValue?, LoweredValue?, includesUpper: Bool)
    /// A value that the predicate captured, not yet known what for; nil for nil.
    case constant(Any?)
}

/// Where names lead from one of the objects that a predicate is about: that of level 0, or one among the related objects of the level
/// before.
struct LoweredPlace: Hashable {
    let level: Int
    let names: [String]

    /// Where further names lead.
    func appending(_ more: [String]) -> LoweredPlace { LoweredPlace(level: level, names: names + more) }

    /// Whether another place is this one or on the way to it.
    func begins(with other: LoweredPlace) -> Bool { level == other.level && names.starts(with: other.names) }

    /// The place and all on the way to it.
    var prefixes: Set<LoweredPlace> { Set(names.indices.map { LoweredPlace(level: level, names: Array(names[...$0])) }) }

    /// The path from the object.
    var path: PropertyPath { names.isEmpty ? .object : PropertyPath(names) }
}

/// A value for each object.
struct LoweredValue {
    let expression: QueryExpression
    /// The property, where it is one.
    let place: LoweredPlace?
    /// Where one of these is nil the value is nil.
    let nilPlaces: Set<LoweredPlace>

    init(_ expression: QueryExpression, nilPlaces: Set<LoweredPlace> = []) {
        self.init(expression, nilPlaces, nil)
    }

    private init(_ expression: QueryExpression, _ nilPlaces: Set<LoweredPlace>, _ place: LoweredPlace?) {
        self.expression = expression
        self.nilPlaces = nilPlaces
        self.place = place
    }

    /// The value of a property, as it is looked at from a level.
    init(_ place: LoweredPlace, at level: Int) { self.init(.outer(level - place.level, place.path), place.prefixes, place) }

    /// The value as it is looked at from so many levels farther in.
    func inside(_ levels: Int) throws(StorageError) -> LoweredValue {
        do throws(QueryError) {
            return LoweredValue(try expression.inside(levels), nilPlaces, place)
        } catch {
            throw Lowering.refusal(error.message)
        }
    }

    /// A function of values that is nil where one of them is.
    init(_ function: Function, _ arguments: [LoweredValue]) {
        self.init(
            .function(function, arguments.map(\.expression)), nilPlaces: arguments.reduce(into: []) { $0.formUnion($1.nilPlaces) })
    }
}

/// A condition, and where it is known to be false.
struct LoweredCondition {
    let predicate: QueryPredicate
    /// Where one of these is nil the condition is false.
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

    /// A text match.
    init(_ value: LoweredValue, _ match: TextMatch, _ needle: String) {
        self.init(.text(value.expression, match, needle), nilPlaces: value.nilPlaces)
    }
}

/// A condition that is nil where something is missing: what an optional chain gives.
struct OptionalCondition {
    let condition: LoweredCondition
    /// What must be there.
    let needed: [LoweredValue]

    /// Whether all that is needed is there.
    var isPresent: LoweredCondition { conjunction(needed) }

    /// Whether it is true, not nil; what is false of nil anyway needs no test for it.
    var isTrue: LoweredCondition {
        let open = needed.filter { value in value.place.map { !condition.nilPlaces.contains($0) } ?? true }
        return open.isEmpty ? condition : conjunction(open) && condition
    }

    /// Whether it is false, not nil.
    var isFalse: LoweredCondition { isPresent && !condition }

    private func conjunction(_ values: [LoweredValue]) -> LoweredCondition {
        let tests = values.map { LoweredCondition(.compare($0.expression, .notEqual, .value(.null)), nilPlaces: $0.nilPlaces) }
        guard let first = tests.first else { return LoweredCondition(.constant(true)) }
        return tests.dropFirst().reduce(first) { $0 && $1 }
    }
}
