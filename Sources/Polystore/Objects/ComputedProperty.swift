internal import PolystoreStorage

extension ManagedObjectIdentity {
    /// The value of a computed property that can stand in requests, because it says what it is there.
    /// ```swift
    /// var total: Decimal { computed(as: \.price * \.count) { price * count } }
    /// ```
    /// Conditions, orders, groups and queries use the expression, on every store; reading the property of an object runs the closure. Both must
    /// mean the same, which the program sees to.
    ///
    /// - Parameters:
    ///   - expression: What the property is in a request, of stored properties and of computed ones that are defined so.
    ///   - value: What it is in Swift.
    @inlinable
    public func computed<V: AttributeValue>(as expression: @autoclosure () -> ValueExpression<Self, V>, _ value: () -> V) -> V {
        if _flags & 1 == 0 { return value() }
        return _computed(expression, value)
    }

    /// The truth of a computed property that can stand in requests.
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
        _context.probe?.recordComputed(self, expression) ?? value()
    }
}

extension ValueExpression where Value == Bool {
    /// Whether a condition holds.
    public init(_ condition: Where<Object>) {
        self.init(.conditional(condition.predicate, .value(.bool(true)), .value(.bool(false))), problem: condition.problem)
    }
}

/// How many expressions of computed properties are being made, one for the other.
enum Nesting {
    /// More is taken for a property that is defined by itself.
    private static let deepest = 20

    @TaskLocal private static var depth = 0

    static func deeper<Object: ManagedObject, V>(_ expression: () -> ValueExpression<Object, V>) -> ValueExpression<Object, V> {
        if depth < deepest { return $depth.withValue(depth + 1, operation: expression) }
        return ValueExpression(
            .value(.null),
            problem: StorageError(
                .invalidPredicate, "a computed property of \(Object.self) is defined by itself, or by more than \(deepest) others in turn"))
    }
}

extension QueryExpression {
    /// The expression as one of the object that leads to its object by to-one relationships; nil where they lead nowhere.
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
    /// A comparison, in which the truth of a condition becomes the condition: stores answer those.
    static func comparing(_ a: QueryExpression, _ comparison: Comparison, _ b: QueryExpression) -> QueryPredicate {
        guard comparison == .equal || comparison == .notEqual, case .value(let constant) = b.node, case .conditional = a.node,
            let condition = when(a, { ($0 == constant) == (comparison == .equal) })
        else { return .compare(a, comparison, b) }
        return condition
    }

    /// When an expression of conditions and constants is a constant for which something holds; nil for other expressions.
    private static func when(_ expression: QueryExpression, _ holds: (Value) -> Bool) -> QueryPredicate? {
        if case .value(let value) = expression.node { return .constant(holds(value)) }
        guard case .conditional(let condition, let a, let b) = expression.node, let first = when(a, holds), let second = when(b, holds)
        else {
            return nil
        }
        return switch (first.node, second.node) {
        case (.constant(true), .constant(false)): condition
        case (.constant(false), .constant(true)): !condition
        case (_, .constant(false)): condition && first
        case (_, .constant(true)): !condition || first
        case (.constant(false), _): !condition && second
        case (.constant(true), _): condition || second
        default: (condition && first) || (!condition && second)
        }
    }
}
