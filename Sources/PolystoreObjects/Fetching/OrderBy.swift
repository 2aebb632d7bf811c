internal import PolystoreStorage

/// One or more sort keys: `.ascending(\.name)`.
public struct OrderBy<Object: ManagedObject>: Sendable, Hashable {
    package private(set) var terms: [OrderTerm]
    private(set) var problem: StorageError?

    /// Creates an order from the sort keys of several orders, one after the other.
    public init(_ keys: OrderBy...) {
        terms = keys.flatMap(\.terms)
        problem = keys.lazy.compactMap(\.problem).first
    }

    /// Creates an order from terms.
    package init(terms: [OrderTerm]) {
        self.terms = terms
        problem = nil
    }

    /// Returns the sort keys of both orders, one after the other.
    public static func + (a: OrderBy, b: OrderBy) -> OrderBy { OrderBy(a, b) }

    /// Appends the sort keys of another order.
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

    /// Returns an ascending order of an expression. Nil is the smallest value.
    public static func ascending<Value>(_ expression: ValueExpression<Object, Value>) -> OrderBy { OrderBy(expression, ascending: true) }

    /// Returns a descending order of an expression. Nil comes last.
    public static func descending<Value>(_ expression: ValueExpression<Object, Value>) -> OrderBy { OrderBy(expression, ascending: false) }

    /// Returns an ascending order of a property. Nil is the smallest value.
    public static func ascending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: true)
    }

    /// Returns a descending order of a property. Nil comes last.
    public static func descending<Property>(_ keyPath: KeyPath<Object, Property>) -> OrderBy {
        OrderBy(keyPath, ascending: false)
    }
}

extension OrderBy {
    /// Returns an ascending order of a property by its stored name. Nil is the smallest value.
    public static func ascending(_ name: String) -> OrderBy { OrderBy(name, ascending: true) }

    /// Returns a descending order of a property by its stored name. Nil comes last.
    public static func descending(_ name: String) -> OrderBy { OrderBy(name, ascending: false) }
}
