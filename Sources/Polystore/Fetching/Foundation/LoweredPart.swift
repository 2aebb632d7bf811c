internal import PolystoreStorage

/// The translation of a part of a Foundation predicate. Its use determines the further conversion.
enum LoweredPart {
    /// A value for each object.
    case value(LoweredValue)
    /// A condition.
    case condition(LoweredCondition)
    /// A condition that is nil if a required value is nil.
    case optionalCondition(OptionalCondition)
    /// The object itself, or the destination of to-one relationships.
    case object(LoweredPlace)
    /// The destinations of relationships that satisfy a condition.
    case objects(LoweredPlace, QueryPredicate?)
    /// The values between two bounds. A nil bound is absent.
    case range(LoweredValue?, LoweredValue?, includesUpper: Bool)
    /// A captured value whose use is not known yet; nil for nil.
    case constant(Any?)
}

/// A path from one of the objects of a predicate: the object of level 0, or one of the related objects of the previous level.
struct LoweredPlace: Hashable {
    let level: Int
    let names: [String]

    /// Returns the path with further names appended.
    func appending(_ more: [String]) -> LoweredPlace { LoweredPlace(level: level, names: names + more) }

    /// Returns whether another path is a prefix of this one, or equal to it.
    func begins(with other: LoweredPlace) -> Bool { level == other.level && names.starts(with: other.names) }

    /// The path and all its prefixes.
    var prefixes: Set<LoweredPlace> { Set(names.indices.map { LoweredPlace(level: level, names: Array(names[...$0])) }) }

    /// The property path from the object.
    var path: PropertyPath { names.isEmpty ? .object : PropertyPath(names) }
}

/// A value for each object.
struct LoweredValue {
    let expression: QueryExpression
    /// The path of the property, if the value is a property.
    let place: LoweredPlace?
    /// The paths for which a nil makes the value nil.
    let nilPlaces: Set<LoweredPlace>

    init(_ expression: QueryExpression, nilPlaces: Set<LoweredPlace> = []) {
        self.init(expression, nilPlaces, nil)
    }

    private init(_ expression: QueryExpression, _ nilPlaces: Set<LoweredPlace>, _ place: LoweredPlace?) {
        self.expression = expression
        self.nilPlaces = nilPlaces
        self.place = place
    }

    /// Creates the value of a property, as seen from a level.
    init(_ place: LoweredPlace, at level: Int) { self.init(.outer(level - place.level, place.path), place.prefixes, place) }

    /// Returns the value as seen from a number of levels further inside.
    func inside(_ levels: Int) throws(StorageError) -> LoweredValue {
        do throws(QueryError) {
            return LoweredValue(try expression.inside(levels), nilPlaces, place)
        } catch {
            throw Lowering.refusal(error.message)
        }
    }

    /// Creates a function of values that is nil if one of them is nil.
    init(_ function: Function, _ arguments: [LoweredValue]) {
        self.init(
            .function(function, arguments.map(\.expression)), nilPlaces: arguments.reduce(into: []) { $0.formUnion($1.nilPlaces) })
    }
}

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

/// A condition that is nil if a required value is nil, as in an optional chain.
struct OptionalCondition {
    let condition: LoweredCondition
    /// The required values.
    let needed: [LoweredValue]

    /// Whether all required values are present.
    var isPresent: LoweredCondition { conjunction(needed) }

    /// Whether the condition is true and not nil. A value whose nil already makes the condition false needs no test.
    var isTrue: LoweredCondition {
        let open = needed.filter { value in value.place.map { !condition.nilPlaces.contains($0) } ?? true }
        return open.isEmpty ? condition : conjunction(open) && condition
    }

    /// Whether the condition is false and not nil.
    var isFalse: LoweredCondition { isPresent && !condition }

    private func conjunction(_ values: [LoweredValue]) -> LoweredCondition {
        let tests = values.map { LoweredCondition(.compare($0.expression, .notEqual, .value(.null)), nilPlaces: $0.nilPlaces) }
        guard let first = tests.first else { return LoweredCondition(.constant(true)) }
        return tests.dropFirst().reduce(first) { $0 && $1 }
    }
}
