internal import Polystore

/// The values that a query of CoreDataMonk requests, combined with `|`. Without an alias a value has the name of its property.
public struct QueryTargets: Sendable {
    let terms: [(text: String, alias: String)]

    private static func target(_ function: String, _ path: String, _ alias: String?) -> QueryTargets {
        QueryTargets(terms: [("@\(function)(\(path))", alias ?? path)])
    }

    /// Combines two lists of values.
    public static func | (a: QueryTargets, b: QueryTargets) -> QueryTargets { QueryTargets(terms: a.terms + b.terms) }
    /// Selects the values of properties, one for each name.
    public static func select(_ paths: String...) -> QueryTargets { QueryTargets(terms: paths.map { ($0, $0) }) }
    /// Selects a computed value, given as text: `.expression("price * 1.19", alias: "gross")`.
    public static func expression(_ text: String, alias: String? = nil) -> QueryTargets { QueryTargets(terms: [(text, alias ?? text)]) }
    /// Selects the average, which is nil if there are no values.
    public static func average(_ path: String, alias: String? = nil) -> QueryTargets { target("avg", path, alias) }
    /// Selects the sum, which is 0 if there are no values.
    public static func sum(_ path: String, alias: String? = nil) -> QueryTargets { target("sum", path, alias) }
    /// Selects the population standard deviation, which is nil if there are no values.
    public static func stdDev(_ path: String, alias: String? = nil) -> QueryTargets { target("stddev", path, alias) }
    /// Selects the minimum, which is nil if there are no values.
    public static func min(_ path: String, alias: String? = nil) -> QueryTargets { target("min", path, alias) }
    /// Selects the maximum, which is nil if there are no values.
    public static func max(_ path: String, alias: String? = nil) -> QueryTargets { target("max", path, alias) }
    /// Selects the median, which is nil if there are no values.
    public static func median(_ path: String, alias: String? = nil) -> QueryTargets { target("median", path, alias) }
    /// Selects the number of values.
    public static func count(_ path: String, alias: String? = nil) -> QueryTargets { target("count", path, alias) }
}
