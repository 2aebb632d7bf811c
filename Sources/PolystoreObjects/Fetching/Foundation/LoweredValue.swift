internal import PolystoreStorage

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
