public import Polystore

prefix operator %
postfix operator %

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

/// Combines two key paths.
public func | (a: MonkKey, b: MonkKey) -> GroupKeys { GroupKeys(paths: [a.path.description, b.path.description]) }
/// Adds a key path.
public func | (a: GroupKeys, b: MonkKey) -> GroupKeys { GroupKeys(paths: a.paths + [b.path.description]) }
