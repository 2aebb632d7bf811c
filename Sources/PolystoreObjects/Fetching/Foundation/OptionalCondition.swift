internal import PolystoreStorage

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
