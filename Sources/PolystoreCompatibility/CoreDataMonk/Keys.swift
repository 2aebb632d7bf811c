public import Polystore

prefix operator %
postfix operator %

/// A key path in an expression of CoreDataMonk, distinguished from a constant by its prefix: `%"name"`.
public struct MonkKey: Sendable {
    let path: PropertyPath
    let quantifier: Quantifier?

    /// Returns a condition on the value of the key path, or on the values of related objects if the key path has a modifier.
    func condition<O: ManagedObject>(_ make: (QueryExpression) -> QueryPredicate) -> Where<O> {
        guard let quantifier else { return Where(make(.path(path))) }
        let names = path.names, relationship = PropertyPath(names.count > 1 ? Array(names.dropLast()) : names)
        let property: PropertyPath = names.count > 1 ? PropertyPath([names[names.count - 1]]) : .object
        return Where(.related(quantifier, relationship, make(.path(property))))
    }
}

/// A key path before the prefix operator is applied: `"friends.age"%`, with the modifiers `any` and `all`.
public struct MonkKeyText: Sendable {
    fileprivate let path: String
    fileprivate var quantifier: Quantifier?

    /// The key path with the modifier for at least one related object.
    public var any: MonkKeyText { MonkKeyText(path: path, quantifier: .any) }
    /// The key path with the modifier for every related object.
    public var all: MonkKeyText { MonkKeyText(path: path, quantifier: .all) }
}

/// Creates a key path.
public prefix func % (path: String) -> MonkKey { MonkKey(path: PropertyPath(path), quantifier: nil) }

/// Creates a key path to which a modifier can be applied.
public postfix func % (path: String) -> MonkKeyText { MonkKeyText(path: path) }

/// Creates a key path with a modifier: `%"friends.age"%.any`.
public prefix func % (text: MonkKeyText) -> MonkKey { MonkKey(path: PropertyPath(text.path), quantifier: text.quantifier) }

private func compare<O: ManagedObject, V: AttributeValue>(_ key: MonkKey, _ comparison: Comparison, _ value: V) -> Where<O> {
    key.condition { .compare($0, comparison, .value(value.attributeValue)) }
}

private func compare<O: ManagedObject>(_ a: MonkKey, _ comparison: Comparison, _ b: MonkKey) -> Where<O> {
    a.condition { .compare($0, comparison, .path(b.path)) }
}

/// Returns a condition for equality. Two nils are equal.
public func == <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .equal, value) }
/// Returns a condition for inequality, which is true if one side is nil.
public func != <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .notEqual, value) }
/// Returns a less-than condition, which is false for nil.
public func < <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .less, value) }
/// Returns a less-than-or-equal condition, which is false for nil.
public func <= <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .lessOrEqual, value) }
/// Returns a greater-than condition, which is false for nil.
public func > <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .greater, value) }
/// Returns a greater-than-or-equal condition, which is false for nil.
public func >= <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .greaterOrEqual, value) }
/// Returns a condition for the equality of two key paths. Two nils are equal.
public func == <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .equal, b) }
/// Returns a condition for the inequality of two key paths, which is true if one side is nil.
public func != <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .notEqual, b) }
/// Returns a less-than condition for two key paths, which is false for nil.
public func < <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .less, b) }
/// Returns a less-than-or-equal condition for two key paths, which is false for nil.
public func <= <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .lessOrEqual, b) }
/// Returns a greater-than condition for two key paths, which is false for nil.
public func > <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .greater, b) }
/// Returns a greater-than-or-equal condition for two key paths, which is false for nil.
public func >= <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .greaterOrEqual, b) }

extension Where {
    /// Returns the condition of a predicate format: `.Where("name like %@", pattern)`.
    public static func `where`(_ format: String, _ arguments: Any?...) -> Where { Where(format: format, arguments: arguments) }
}

extension OrderBy {
    /// Returns an order by the first term, then by the second.
    public static func | (a: OrderBy, b: OrderBy) -> OrderBy { a + b }
}

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

/// Combines two key paths.
public func | (a: MonkKey, b: MonkKey) -> GroupKeys { GroupKeys(paths: [a.path.description, b.path.description]) }
/// Adds a key path.
public func | (a: GroupKeys, b: MonkKey) -> GroupKeys { GroupKeys(paths: a.paths + [b.path.description]) }

extension CoreDataMainContext {
    /// Returns the objects of a class that satisfy a condition, in an order, with options.
    public func fetchAll<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, options: FetchOptions<O>
    ) throws(StorageError) -> [O] {
        try view.fetchAll(request(condition, orderBy, options))
    }

    /// Returns a single value, or nil if there is none.
    public func queryValue<O: ManagedObject>(
        _ type: O.Type, _ target: QueryTargets, _ condition: Where<O>? = nil
    ) throws(StorageError) -> Any? {
        try query(type, target, condition).first?.values.first
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public func query<O: ManagedObject>(
        _ type: O.Type, _ targets: QueryTargets, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, groupBy key: MonkKey? = nil,
        having: Where<O>? = nil, options: FetchOptions<O>? = nil
    ) throws(StorageError) -> [[String: Any]] {
        let keys = GroupKeys(paths: key.map { [$0.path.description] } ?? [])
        return try query(type, targets, condition, orderBy: orderBy, groupBy: keys, having: having, options: options)
    }

    /// Returns the result rows as dictionaries, without values that are nil, grouped by several key paths.
    public func query<O: ManagedObject>(
        _ type: O.Type, _ targets: QueryTargets, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, groupBy keys: GroupKeys,
        having: Where<O>? = nil, options: FetchOptions<O>? = nil
    ) throws(StorageError) -> [[String: Any]] {
        var query = request(condition, orderBy, options).select(targets.terms.map { Polystore.Select(named: $0.text, as: $0.alias) })
            .groupBy(named: keys.paths)
        if let having { query = query.having(having) }
        return try view.queryAttributes(query).map { row in
            var result: [String: Any] = [:]
            for (name, value) in zip(row.names, row.values) { result[name] = value.natural }
            return result
        }
    }

    private func request<O: ManagedObject>(_ condition: Where<O>?, _ orderBy: OrderBy<O>?, _ options: FetchOptions<O>?) -> From<O> {
        var from = From<O>()
        if let condition { from = from.where(condition) }
        if let orderBy { from = from.orderBy(orderBy) }
        return options?.applied(to: from) ?? from
    }
}
