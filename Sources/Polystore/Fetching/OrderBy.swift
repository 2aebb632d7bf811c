internal import PolystoreStorage

/// One key of an order or several: `.ascending(\.name)`.
public struct OrderBy<Object: ManagedObject>: Sendable {
    private(set) var terms: [OrderTerm]
    private(set) var problem: StorageError?

    /// The keys of several orders, one after the other.
    public init(_ keys: OrderBy...) {
        terms = keys.flatMap(\.terms)
        problem = keys.lazy.compactMap(\.problem).first
    }

    /// The keys of both, one after the other.
    public static func + (a: OrderBy, b: OrderBy) -> OrderBy { OrderBy(a, b) }

    /// Adds the keys of another order at the end.
    public static func += (a: inout OrderBy, b: OrderBy) { a = a + b }

    private init<Property>(_ keyPath: KeyPath<Object, Property>, ascending: Bool) {
        self.init(ValueExpression(keyPath), ascending: ascending)
    }

    private init(_ name: String, ascending: Bool) {
        terms = [OrderTerm(PropertyPath(name), ascending: ascending)]
        problem = nil
    }

    private init<Value>(_ expression: ValueExpression<Object, Value>, ascending: Bool) {
        terms = [OrderTerm(expression.expression, ascending: ascending)]
        problem = expression.problem
    }

    /// Small values of something computed first; nil is the smallest.
    public static func ascending<Value>(_ expression: ValueExpression<Object, Value>) -> OrderBy { OrderBy(expression, ascending: true) }

    /// Great values of something computed first; nil is the last.
    public static func descending<Value>(_ expression: ValueExpression<Object, Value>) -> OrderBy { OrderBy(expression, ascending: false) }

    /// Small values first; nil is the smallest.
    public static func ascending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: true)
    }

    /// Great values first; nil is the last.
    public static func descending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: false)
    }
}

extension OrderBy {
    /// Small values of a property first, by its stored name; nil is the smallest.
    public static func ascending(_ name: String) -> OrderBy { OrderBy(name, ascending: true) }

    /// Great values of a property first, by its stored name; nil is the last.
    public static func descending(_ name: String) -> OrderBy { OrderBy(name, ascending: false) }
}
