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
    case object([String])
    /// The objects that relationships lead to, those that satisfy a condition.
    case objects([String], PolystoreQuery.Predicate?)
    /// The values from one bound to another; no bound is none.
    case range(LoweredValue?, LoweredValue?, includesUpper: Bool)
    /// A value that the predicate captured, not yet known what for; nil for nil.
    case constant(Any?)
}

/// A value for each object.
struct LoweredValue {
    let expression: PolystoreQuery.Expression
    /// The property, where it is one.
    let path: PropertyPath?
    /// Where one of these paths leads to nil the value is nil.
    let nilPaths: Set<PropertyPath>

    init(_ expression: PolystoreQuery.Expression, nilPaths: Set<PropertyPath> = []) {
        self.expression = expression
        path = nil
        self.nilPaths = nilPaths
    }

    /// The value of a property.
    init(names: [String]) {
        let path = names.isEmpty ? .object : PropertyPath(names)
        expression = .path(path)
        self.path = path
        nilPaths = PropertyPath.prefixes(names)
    }

    /// A function of values that is nil where one of them is.
    init(_ function: Function, _ arguments: [LoweredValue]) {
        self.init(
            .function(function, arguments.map(\.expression)), nilPaths: arguments.reduce(into: []) { $0.formUnion($1.nilPaths) })
    }
}

/// A condition, and where it is known to be false.
struct LoweredCondition {
    let predicate: PolystoreQuery.Predicate
    /// Where one of these paths leads to nil the condition is false.
    let nilPaths: Set<PropertyPath>

    init(_ predicate: PolystoreQuery.Predicate, nilPaths: Set<PropertyPath> = []) {
        self.predicate = predicate
        self.nilPaths = nilPaths
    }

    static func && (a: LoweredCondition, b: LoweredCondition) -> LoweredCondition {
        LoweredCondition(a.predicate && b.predicate, nilPaths: a.nilPaths.union(b.nilPaths))
    }

    static func || (a: LoweredCondition, b: LoweredCondition) -> LoweredCondition {
        LoweredCondition(a.predicate || b.predicate, nilPaths: a.nilPaths.intersection(b.nilPaths))
    }

    static prefix func ! (a: LoweredCondition) -> LoweredCondition { LoweredCondition(!a.predicate) }

    /// A text match.
    init(_ value: LoweredValue, _ match: TextMatch, _ needle: String) {
        self.init(.text(value.expression, match, needle), nilPaths: value.nilPaths)
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
        let open = needed.filter { value in value.path.map { !condition.nilPaths.contains($0) } ?? true }
        return open.isEmpty ? condition : conjunction(open) && condition
    }

    /// Whether it is false, not nil.
    var isFalse: LoweredCondition { isPresent && !condition }

    private func conjunction(_ values: [LoweredValue]) -> LoweredCondition {
        let tests = values.map { LoweredCondition(.compare($0.expression, .notEqual, .value(.null)), nilPaths: $0.nilPaths) }
        guard let first = tests.first else { return LoweredCondition(.constant(true)) }
        return tests.dropFirst().reduce(first) { $0 && $1 }
    }
}

extension PropertyPath {
    /// The path of names and those of all their beginnings.
    static func prefixes(_ names: [String]) -> Set<PropertyPath> { Set(names.indices.map { PropertyPath(Array(names[...$0])) }) }
}
