public import Polystore

prefix operator %
postfix operator %

/// A key of CoreDataMonk's expressions, told from a constant by its mark: `%"name"`.
public struct MonkKey: Sendable {
    let path: PropertyPath
    let quantifier: Quantifier?

    /// A condition on the value of the key; on those of related objects where the key has a modifier.
    func condition<O: ManagedObject>(_ make: (QueryExpression) -> QueryPredicate) -> Where<O> {
        guard let quantifier else { return Where(make(.path(path))) }
        let names = path.names, relationship = PropertyPath(names.count > 1 ? Array(names.dropLast()) : names)
        let property: PropertyPath = names.count > 1 ? PropertyPath([names[names.count - 1]]) : .object
        return Where(.related(quantifier, relationship, make(.path(property))))
    }
}

/// A key before it has its mark: `"friends.age"%`, with the modifiers `any` and `all`.
public struct MonkKeyText: Sendable {
    fileprivate let path: String
    fileprivate var quantifier: Quantifier?

    /// Of one related object or more.
    public var any: MonkKeyText { MonkKeyText(path: path, quantifier: .any) }
    /// Of every related object.
    public var all: MonkKeyText { MonkKeyText(path: path, quantifier: .all) }
}

/// A key.
public prefix func % (path: String) -> MonkKey { MonkKey(path: PropertyPath(path), quantifier: nil) }

/// A key that gets a modifier.
public postfix func % (path: String) -> MonkKeyText { MonkKeyText(path: path) }

/// A key with a modifier: `%"friends.age"%.any`.
public prefix func % (text: MonkKeyText) -> MonkKey { MonkKey(path: PropertyPath(text.path), quantifier: text.quantifier) }

private func compare<O: ManagedObject, V: AttributeValue>(_ key: MonkKey, _ comparison: Comparison, _ value: V) -> Where<O> {
    key.condition { .compare($0, comparison, .value(value.attributeValue)) }
}

private func compare<O: ManagedObject>(_ a: MonkKey, _ comparison: Comparison, _ b: MonkKey) -> Where<O> {
    a.condition { .compare($0, comparison, .path(b.path)) }
}

/// Equality; two nils are equal.
public func == <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .equal, value) }
/// Inequality; true where one side is nil.
public func != <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .notEqual, value) }
/// Smaller; false of nil.
public func < <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .less, value) }
/// Smaller or equal; false of nil.
public func <= <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .lessOrEqual, value) }
/// Greater; false of nil.
public func > <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .greater, value) }
/// Greater or equal; false of nil.
public func >= <O: ManagedObject, V: AttributeValue>(key: MonkKey, value: V) -> Where<O> { compare(key, .greaterOrEqual, value) }
/// Equality of two keys; two nils are equal.
public func == <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .equal, b) }
/// Inequality of two keys; true where one side is nil.
public func != <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .notEqual, b) }
/// Smaller than another key; false of nil.
public func < <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .less, b) }
/// Smaller than another key or equal; false of nil.
public func <= <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .lessOrEqual, b) }
/// Greater than another key; false of nil.
public func > <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .greater, b) }
/// Greater than another key or equal; false of nil.
public func >= <O: ManagedObject>(a: MonkKey, b: MonkKey) -> Where<O> { compare(a, .greaterOrEqual, b) }

extension Where {
    /// The condition of a text: `.Where("name like %@", pattern)`.
    public static func `where`(_ format: String, _ arguments: Any?...) -> Where { Where(format: format, arguments: arguments) }
}

extension OrderBy {
    /// Both, one after the other.
    public static func | (a: OrderBy, b: OrderBy) -> OrderBy { a + b }
}

/// CoreDataMonk's options of a request, joined by `|`.
public struct FetchOptions<Object: ManagedObject>: Sendable {
    private let apply: @Sendable (From<Object>) -> From<Object>

    private init(_ apply: @escaping @Sendable (From<Object>) -> From<Object>) { self.apply = apply }

    func applied(to from: From<Object>) -> From<Object> { apply(from) }

    /// Both.
    public static func | (a: FetchOptions, b: FetchOptions) -> FetchOptions { FetchOptions { b.apply(a.apply($0)) } }
    /// At most so many objects.
    public static func limit(_ count: Int) -> FetchOptions { FetchOptions { $0.limit(count) } }
    /// Without so many objects at the beginning.
    public static func offset(_ count: Int) -> FetchOptions { FetchOptions { $0.offset(count) } }
    /// How many objects are read at once; here a fetch reads in batches in any case.
    public static func batch(_ count: Int) -> FetchOptions { FetchOptions { $0 } }
    /// Without objects of sub-entities.
    public static var noSubEntities: FetchOptions { FetchOptions { $0.withoutSubentities() } }
    /// Without uncommitted changes.
    public static var noPendingChanges: FetchOptions { FetchOptions { $0.includesPendingChanges(false) } }
    /// With the objects that relationships lead to.
    public static func prefetch(_ keyPaths: [String]) -> FetchOptions { FetchOptions { $0.prefetch(named: keyPaths) } }
    /// Changes settings of the request.
    public static func tweak(_ change: @escaping @Sendable (TweakedRequest) -> Void) -> FetchOptions {
        FetchOptions { Tweak<Object>(change).applied(to: $0) }
    }
}

/// What a query of CoreDataMonk's form asks for, joined by `|`; without an alias a value is called as its property.
public struct QueryTargets: Sendable {
    let terms: [(text: String, alias: String)]

    private static func target(_ function: String, _ path: String, _ alias: String?) -> QueryTargets {
        QueryTargets(terms: [("@\(function)(\(path))", alias ?? path)])
    }

    /// Both.
    public static func | (a: QueryTargets, b: QueryTargets) -> QueryTargets { QueryTargets(terms: a.terms + b.terms) }
    /// The values of properties, a target for each name.
    public static func select(_ paths: String...) -> QueryTargets { QueryTargets(terms: paths.map { ($0, $0) }) }
    /// Something computed, in the text form: `.expression("price * 1.19", alias: "gross")`.
    public static func expression(_ text: String, alias: String? = nil) -> QueryTargets { QueryTargets(terms: [(text, alias ?? text)]) }
    /// The mean; nil of nothing.
    public static func average(_ path: String, alias: String? = nil) -> QueryTargets { target("avg", path, alias) }
    /// The total; 0 of nothing.
    public static func sum(_ path: String, alias: String? = nil) -> QueryTargets { target("sum", path, alias) }
    /// The standard deviation of the population; nil of nothing.
    public static func stdDev(_ path: String, alias: String? = nil) -> QueryTargets { target("stddev", path, alias) }
    /// The smallest value; nil of nothing.
    public static func min(_ path: String, alias: String? = nil) -> QueryTargets { target("min", path, alias) }
    /// The greatest value; nil of nothing.
    public static func max(_ path: String, alias: String? = nil) -> QueryTargets { target("max", path, alias) }
    /// The value in the middle; nil of nothing.
    public static func median(_ path: String, alias: String? = nil) -> QueryTargets { target("median", path, alias) }
    /// The number of values.
    public static func count(_ path: String, alias: String? = nil) -> QueryTargets { target("count", path, alias) }
}

/// Keys of groups, joined by `|`.
public struct GroupKeys: Sendable {
    let paths: [String]
}

/// Both keys.
public func | (a: MonkKey, b: MonkKey) -> GroupKeys { GroupKeys(paths: [a.path.description, b.path.description]) }
/// One key more.
public func | (a: GroupKeys, b: MonkKey) -> GroupKeys { GroupKeys(paths: a.paths + [b.path.description]) }

extension CoreDataMainContext {
    /// The objects of a class that satisfy a condition, in an order, with options.
    public func fetchAll<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, options: FetchOptions<O>
    ) throws(StorageError) -> [O] {
        try view.fetchAll(request(condition, orderBy, options))
    }

    /// One value; nil of nothing.
    public func queryValue<O: ManagedObject>(
        _ type: O.Type, _ target: QueryTargets, _ condition: Where<O>? = nil
    ) throws(StorageError) -> Any? {
        try query(type, target, condition).first?.values.first
    }

    /// The rows of an answer as dictionaries, without values that are nil.
    public func query<O: ManagedObject>(
        _ type: O.Type, _ targets: QueryTargets, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, groupBy key: MonkKey? = nil,
        having: Where<O>? = nil, options: FetchOptions<O>? = nil
    ) throws(StorageError) -> [[String: Any]] {
        let keys = GroupKeys(paths: key.map { [$0.path.description] } ?? [])
        return try query(type, targets, condition, orderBy: orderBy, groupBy: keys, having: having, options: options)
    }

    /// The rows of an answer as dictionaries, without values that are nil, grouped by several keys.
    public func query<O: ManagedObject>(
        _ type: O.Type, _ targets: QueryTargets, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, groupBy keys: GroupKeys,
        having: Where<O>? = nil, options: FetchOptions<O>? = nil
    ) throws(StorageError) -> [[String: Any]] {
        var query = request(condition, orderBy, options).select(targets.terms.map { Polystore.Select(named: $0.text, as: $0.alias) })
            .groupBy(named: keys.paths)
        if let having { query = query.having(having) }
        return try view.queryAttributes(query).map { row in
            var result: [String: Any] = [:]
            for (name, value) in zip(row.names, row.values) { result[name] = value.any }
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
