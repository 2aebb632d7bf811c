public import PolystoreStorage

/// An expression that has a value for each object: `(\Person.pets).count`, `\Person.age + 1`.
///
/// Comparisons of expressions are conditions. Expressions can also be sort keys and output values.
public struct ValueExpression<Object: ManagedObject, Value>: Sendable {
    /// The expression.
    public let expression: QueryExpression
    let problem: StorageError?

    /// Creates an expression from stored names. Its value must have the type `Value`.
    public init(_ expression: QueryExpression) {
        self.expression = expression
        problem = nil
    }

    init(_ expression: QueryExpression, problem: StorageError?) {
        self.expression = expression
        self.problem = problem
    }

    /// Creates an expression for the value of a property.
    public init(_ keyPath: KeyPath<Object, Value>) {
        do throws(StorageError) {
            self.init(try KeyPathProbe.expression(keyPath), problem: nil)
        } catch {
            self.init(.value(.null), problem: error)
        }
    }

    func compare<Other>(_ comparison: Comparison, _ other: ValueExpression<Object, Other>) -> Where<Object> {
        Where(.comparing(expression, comparison, other.expression), problem: problem ?? other.problem)
    }

    func apply(_ function: Function, _ other: ValueExpression) -> ValueExpression {
        ValueExpression(.function(function, [expression, other.expression]), problem: problem ?? other.problem)
    }
}

extension ValueExpression where Value: AttributeValue & Comparable {
    /// Creates a constant expression. One of a type without an order is ``constant(_:)``.
    ///
    /// `Bool` has no order: in `ValueExpression(\Person.age == nil)` the comparison is a condition, and not the constant false that the
    /// comparison of the key path itself with nil would be.
    public init(_ constant: Value) { self = .constant(constant) }
}

extension ValueExpression where Value: AttributeValue {
    /// Returns a constant expression.
    public static func constant(_ value: Value) -> ValueExpression { ValueExpression(.value(value.attributeValue)) }

    /// Returns a condition for equality. Two nil values are equal.
    public static func == (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.equal, constant(b)) }
    /// Returns a condition for inequality. It is true if one side is nil.
    public static func != (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.notEqual, constant(b)) }
    /// Returns a "less than" condition. It is false for nil.
    public static func < (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.less, constant(b)) }
    /// Returns a "less than or equal" condition. It is false for nil.
    public static func <= (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.lessOrEqual, constant(b)) }
    /// Returns a "greater than" condition. It is false for nil.
    public static func > (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.greater, constant(b)) }
    /// Returns a "greater than or equal" condition. It is false for nil.
    public static func >= (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.greaterOrEqual, constant(b)) }

    /// Returns a condition for equality of two expressions. Two nil values are equal.
    public static func == (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.equal, b) }
    /// Returns a condition for inequality of two expressions. It is true if one side is nil.
    public static func != (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.notEqual, b) }
    /// Returns a "less than" condition of two expressions. It is false for nil.
    public static func < (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.less, b) }
    /// Returns a "less than or equal" condition of two expressions. It is false for nil.
    public static func <= (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.lessOrEqual, b) }
    /// Returns a "greater than" condition of two expressions. It is false for nil.
    public static func > (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.greater, b) }
    /// Returns a "greater than or equal" condition of two expressions. It is false for nil.
    public static func >= (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.greaterOrEqual, b) }

    /// Returns a condition for whether the value is in a list.
    public func isIn(_ values: some Sequence<Value>) -> Where<Object> {
        Where(.isIn(expression, values.map(\.attributeValue)), problem: problem)
    }

    /// Returns the value or, if it is nil, another one.
    public func or(_ other: Value) -> ValueExpression {
        ValueExpression(.function(.coalesce, [expression, .value(other.attributeValue)]), problem: problem)
    }
}

extension ValueExpression where Value: NumericAttribute {
    /// Returns the sum.
    public static func + (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.add, b) }
    /// Returns the sum.
    public static func + (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.add, constant(b)) }
    /// Returns the difference.
    public static func - (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.subtract, b) }
    /// Returns the difference.
    public static func - (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.subtract, constant(b)) }
    /// Returns the product.
    public static func * (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.multiply, b) }
    /// Returns the product.
    public static func * (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.multiply, constant(b)) }
    /// Returns the quotient. The quotient of integers is an integer, rounded towards zero.
    public static func / (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.divide, b) }
    /// Returns the quotient. The quotient of integers is an integer, rounded towards zero.
    public static func / (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.divide, constant(b)) }
    /// Returns the remainder, with the sign of the dividend.
    public static func % (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.modulo, constant(b)) }
}

/// Returns the sum of a property and a number.
public func + <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) + b
}

/// Returns the sum of two properties.
public func + <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) + ValueExpression(b)
}

/// Returns the difference of a property and a number.
public func - <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) - b
}

/// Returns the difference of two properties.
public func - <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) - ValueExpression(b)
}

/// Returns the product of a property and a number.
public func * <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) * b
}

/// Returns the product of two properties.
public func * <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) * ValueExpression(b)
}

/// Returns the quotient of a property and a number.
public func / <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) / b
}

/// Returns the quotient of two properties.
public func / <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) / ValueExpression(b)
}

/// Returns the remainder of a property divided by a number.
public func % <Object: ManagedObject, V: NumericAttribute>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) % b
}

extension KeyPath where Root: ManagedObject, Value: TextAttribute {
    private func applied<Result>(_ function: Function) -> ValueExpression<Root, Result> {
        let own = ValueExpression(self)
        return ValueExpression<Root, Result>(.function(function, [own.expression]), problem: own.problem)
    }

    /// The number of Unicode scalars.
    public var length: ValueExpression<Root, Int> { applied(.length) }
    /// The text in upper case.
    public var uppercase: ValueExpression<Root, String> { applied(.uppercase) }
    /// The text in lower case.
    public var lowercase: ValueExpression<Root, String> { applied(.lowercase) }
    /// The text without leading and trailing white space.
    public var trimmed: ValueExpression<Root, String> { applied(.trim) }
    /// Returns the text in the folded form that comparisons with these options use.
    public func folded(_ options: TextOptions) -> ValueExpression<Root, String> { applied(.folded(options)) }
}

extension ValueExpression {
    /// Returns a component of a date in a time zone: a name of the tz database such as Europe/Berlin, UTC, or a difference such as GMT+2.
    public static func part(_ part: DatePart, of keyPath: KeyPath<Object, some Any>, timeZone: String = "UTC") -> ValueExpression<
        Object, Int
    > {
        do throws(StorageError) {
            return ValueExpression<Object, Int>(
                .function(.datePart(part, timeZone: timeZone), [try KeyPathProbe.expression(keyPath)]), problem: nil)
        } catch {
            return ValueExpression<Object, Int>(.value(.null), problem: error)
        }
    }
}

extension ValueExpression {
    /// Returns the value of one expression for objects that satisfy a condition, and that of another one for all others:
    /// `.conditional(\.isPaid == true, then: ValueExpression(\.units), else: .constant(0))`.
    public static func conditional(
        _ condition: Where<Object>, then value: ValueExpression, else other: ValueExpression
    ) -> ValueExpression {
        ValueExpression(
            .conditional(condition.predicate, value.expression, other.expression),
            problem: condition.problem ?? value.problem ?? other.problem)
    }

    /// Returns the sum of an expression over a group. Only for queries.
    public static func sum(_ expression: ValueExpression) -> ValueExpression {
        ValueExpression(.aggregate(Aggregate(.sum, of: expression.expression)), problem: expression.problem)
    }

    private static func aggregate<Property>(
        _ function: AggregateFunction, _ keyPath: KeyPath<Object, Property>
    ) -> ValueExpression {
        do throws(StorageError) {
            return ValueExpression(.aggregate(Aggregate(function, of: try KeyPathProbe.expression(keyPath))), problem: nil)
        } catch {
            return ValueExpression(.value(.null), problem: error)
        }
    }

    /// Returns the sum over a group. Only for queries.
    public static func sum(_ keyPath: KeyPath<Object, Value>) -> ValueExpression { aggregate(.sum, keyPath) }
    /// Returns the smallest value of a group. Only for queries.
    public static func minimum(_ keyPath: KeyPath<Object, Value>) -> ValueExpression { aggregate(.minimum, keyPath) }
    /// Returns the largest value of a group. Only for queries.
    public static func maximum(_ keyPath: KeyPath<Object, Value>) -> ValueExpression { aggregate(.maximum, keyPath) }
}

extension ValueExpression where Value == Int {
    /// Returns the number of objects of a group. Only for queries.
    public static func count() -> ValueExpression { ValueExpression(.aggregate(Aggregate(.count))) }
    /// Returns the number of distinct values of a group. Only for queries.
    public static func countDistinct(_ keyPath: KeyPath<Object, some Any>) -> ValueExpression { aggregate(.countDistinct, keyPath) }
}

extension ValueExpression where Value == Double {
    /// Returns the mean over a group. Only for queries.
    public static func average(_ keyPath: KeyPath<Object, some Any>) -> ValueExpression { aggregate(.average, keyPath) }
}
