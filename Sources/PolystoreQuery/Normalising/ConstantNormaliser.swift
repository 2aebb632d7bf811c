internal import PolystoreFoundation
internal import PolystoreSchema

/// Converts a comparison with a constant of any numeric type into an equivalent one with a constant of the property's own type.
///
/// Let f be the greatest value of the property's type that is not greater than the constant c: x <= c is x <= f and x > c is x > f. If f is
/// not equal to c, x < c is x <= f, x >= c is x > f, and x == c is never true.
struct ConstantNormaliser {
    let path: CheckedPath

    private enum Bound {
        /// Below every value of the type.
        case below
        /// Above every value of the type.
        case above
        case at(Value, isExact: Bool)
    }

    /// Returns the normal form of `path comparison value`. The value must not be nil.
    func compare(_ comparison: Comparison, _ value: Value) throws(QueryError) -> CheckedPredicate {
        switch try bound(value) {
        case .below: fold(comparison, isAbove: false)
        case .above: fold(comparison, isAbove: true)
        case .at(let value, isExact: true): .compare(path, comparison, value)
        case .at(let value, isExact: false):
            switch comparison {
            case .equal: .constant(false)
            case .notEqual: .constant(true)
            case .less, .lessOrEqual: .compare(path, .lessOrEqual, value)
            case .greater, .greaterOrEqual: .compare(path, .greater, value)
            }
        }
    }

    /// Returns a comparison with a constant outside the range of the values. The orders remain false for nil.
    private func fold(_ comparison: Comparison, isAbove: Bool) -> CheckedPredicate {
        switch comparison {
        case .equal: .constant(false)
        case .notEqual: .constant(true)
        case .less, .lessOrEqual: isAbove ? .not(.isNil(path)) : .constant(false)
        case .greater, .greaterOrEqual: isAbove ? .constant(false) : .not(.isNil(path))
        }
    }

    private func bound(_ value: Value) throws(QueryError) -> Bound {
        if value.isNaN {
            throw QueryError(path: path.text, "NaN is not a value that can be compared")
        }
        switch (path.type, value) {
        case (.string, .string(let text)), (.url, .string(let text)):
            // No stored text contains U+0000. The part before it is the greatest text that is not greater: every byte that could follow it
            // is greater than 0.
            let stored = text.utf8.prefix { $0 != 0 }
            return .at(.string(String(Substring(stored))), isExact: stored.endIndex == text.utf8.endIndex)
        // As an attribute stores it.
        case (.decimal, .decimal(let number)): return .at(.decimal(DecimalArithmetic.withoutRest(number)), isExact: true)
        case (.double, .double(let number)), (.float, .double(let number)): return .at(.double(number == 0 ? 0 : number), isExact: true)
        case (.int16, .int(let number)), (.int32, .int(let number)): return bounded(number, isExact: true)
        case (.int16, .double(let number)), (.int32, .double(let number)), (.int64, .double(let number)): return whole(number)
        case (.int16, .decimal(let number)), (.int32, .decimal(let number)), (.int64, .decimal(let number)): return whole(number)
        case (.double, .int(let number)), (.float, .int(let number)):
            let (floor, isExact) = ExactNumber.floor(number)
            return .at(.double(floor), isExact: isExact)
        case (.double, .decimal(let number)), (.float, .decimal(let number)):
            let (floor, isExact) = ExactNumber.floor(number)
            return .at(.double(floor), isExact: isExact)
        case (.decimal, .int(let number)): return .at(.decimal(Decimal(number)), isExact: true)
        case (.decimal, .double(let number)):
            switch ExactNumber.decimalFloor(number) {
            case .below: return .below
            case .above: return .above
            case .at(let floor, let isExact): return .at(.decimal(floor), isExact: isExact)
            }
        case (.bool, _), (.int16, _), (.int32, _), (.int64, _), (.float, _), (.double, _), (.decimal, _), (.string, _), (.date, _),
            (.uuid, _), (.data, _), (.url, _):
            if value.type == path.type.base { return .at(value, isExact: true) }
            let noun = value.type?.noun ?? "nil"
            throw QueryError(path: path.text, "a value of type \(path.type.rawValue) is expected, not \(noun)")
        }
    }

    private func bounded(_ number: Int64, isExact: Bool) -> Bound {
        let range = path.type.range
        if number < range.lowerBound { return .below }
        if number > range.upperBound || (number == range.upperBound && !isExact) { return .above }
        return .at(.int(number), isExact: isExact)
    }

    private func whole(_ number: Double) -> Bound {
        if number >= 9_223_372_036_854_775_808 { return .above }
        if number < -9_223_372_036_854_775_808 { return .below }
        let floor = number.rounded(.down)
        return bounded(Int64(floor), isExact: floor == number)
    }

    private func whole(_ number: Decimal) -> Bound {
        let floor = number.rounded(.down)
        if floor > Decimal(Int64.max) { return .above }
        if floor < Decimal(Int64.min) { return .below }
        return bounded(Int64(floor.description) ?? 0, isExact: floor == number)
    }
}
