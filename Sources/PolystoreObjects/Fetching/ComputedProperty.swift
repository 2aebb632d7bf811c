internal import PolystoreStorage

extension ManagedObjectIdentity {
    /// Returns the value of a computed property that can be used in requests because it also has an expression.
    /// ```swift
    /// var total: Decimal { computed(as: \.price * \.count) { price * count } }
    /// ```
    /// Conditions, sort orders, groups and queries use the expression, on every store. Reading the property of an object runs the closure.
    /// The program must ensure that both have the same meaning.
    ///
    /// - Parameters:
    ///   - expression: The value of the property in a request, as an expression of stored properties and of computed properties that are
    ///     defined in the same way.
    ///   - value: The value of the property in Swift.
    @inlinable
    public func computed<V: AttributeValue>(as expression: @autoclosure () -> ValueExpression<Self, V>, _ value: () -> V) -> V {
        if _flags & 1 == 0 { return value() }
        return _computed(expression, value)
    }

    /// Returns the value of a Boolean computed property that can be used in requests.
    /// ```swift
    /// var isOpen: Bool { computed(as: \.done == false) { !done } }
    /// ```
    @inlinable
    public func computed(as condition: @autoclosure () -> Where<Self>, _ value: () -> Bool) -> Bool {
        if _flags & 1 == 0 { return value() }
        return _computed({ ValueExpression(condition()) }, value)
    }

    @inline(never) @usableFromInline
    func _computed<V: AttributeValue>(_ expression: () -> ValueExpression<Self, V>, _ value: () -> V) -> V {
        guard let probe = _context.probe else { return value() }
        return probe.recordComputed(self) {
            let made = Nesting.deeper(expression)
            return (made.expression, made.problem)
        }
    }
}

extension ValueExpression where Value == Bool {
    /// Creates an expression for whether a condition holds.
    public init(_ condition: Where<Object>) {
        self.init(.conditional(condition.predicate, .value(.bool(true)), .value(.bool(false))), problem: condition.problem)
    }
}

extension QueryExpression {
    /// Returns the expression for an object that references its object by to-one relationships; its value is nil if one of them is nil.
    func behind(_ names: [String]) throws(StorageError) -> QueryExpression {
        if names.isEmpty { return self }
        do throws(QueryError) {
            return .conditional(.compare(.path(PropertyPath(names)), .notEqual, .value(.null)), try prefixed(by: names), .value(.null))
        } catch {
            throw StorageError(error)
        }
    }
}

extension QueryPredicate {
    /// Returns a comparison. A comparison of a condition with a constant becomes the condition itself, because stores can evaluate
    /// conditions.
    static func comparing(_ a: QueryExpression, _ comparison: Comparison, _ b: QueryExpression) -> QueryPredicate {
        guard comparison == .equal || comparison == .notEqual, case .value(let constant) = b.node, case .conditional = a.node,
            let condition = when(a, { ($0 == constant) == (comparison == .equal) })
        else { return .compare(a, comparison, b) }
        return condition
    }

    /// Returns the predicate under which an expression of conditions and constants is a constant with a property; nil for other
    /// expressions.
    private static func when(_ expression: QueryExpression, _ holds: (Value) -> Bool) -> QueryPredicate? {
        if case .value(let value) = expression.node { return .constant(holds(value)) }
        guard case .conditional(let condition, let a, let b) = expression.node, let first = when(a, holds), let second = when(b, holds)
        else {
            return nil
        }
        return switch (first.constant, second.constant) {
        case (true?, false?): condition
        case (false?, true?): !condition
        case (_, false?): condition && first
        case (_, true?): !condition || first
        case (false?, nil): !condition && second
        case (true?, nil): condition || second
        case (nil, nil): (condition && first) || (!condition && second)
        }
    }

    /// The result of a predicate that is the same for every object; nil for others.
    private var constant: Bool? { if case .constant(let truth) = node { truth } else { nil } }
}
