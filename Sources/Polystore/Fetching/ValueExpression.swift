public import PolystoreStorage

/// An expression that has a value for each object: `(\Person.pets).count`, `\Person.age + 1`.
///
/// It is compared to make a condition, and can be sorted and asked for.
public struct ValueExpression<Object: ManagedObject, Value>: Sendable {
    /// The expression.
    public let expression: QueryExpression
    let problem: StorageError?

    /// An expression of names; its value must have the type.
    public init(_ expression: QueryExpression) {
        self.expression = expression
        problem = nil
    }

    init(_ expression: QueryExpression, problem: StorageError?) {
        self.expression = expression
        self.problem = problem
    }

    /// The value of a property.
    public init(_ keyPath: KeyPath<Object, Value>) {
        do throws(StorageError) {
            self.init(try KeyPathProbe.expression(keyPath), problem: nil)
        } catch {
            self.init(.value(.null), problem: error)
        }
    }

    func compare(_ comparison: Comparison, _ other: ValueExpression) -> Where<Object> {
        Where(.comparing(expression, comparison, other.expression), problem: problem ?? other.problem)
    }

    func apply(_ function: Function, _ other: ValueExpression) -> ValueExpression {
        ValueExpression(.function(function, [expression, other.expression]), problem: problem ?? other.problem)
    }
}

extension ValueExpression where Value: AttributeValue {
    /// A constant.
    public init(_ constant: Value) { self.init(.value(constant.attributeValue)) }

    /// Equality; two nils are equal.
    public static func == (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.equal, ValueExpression(b)) }
    /// Inequality; true where one side is nil.
    public static func != (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.notEqual, ValueExpression(b)) }
    /// Smaller; false of nil.
    public static func < (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.less, ValueExpression(b)) }
    /// Smaller or equal; false of nil.
    public static func <= (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.lessOrEqual, ValueExpression(b)) }
    /// Greater; false of nil.
    public static func > (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.greater, ValueExpression(b)) }
    /// Greater or equal; false of nil.
    public static func >= (a: ValueExpression, b: Value) -> Where<Object> { a.compare(.greaterOrEqual, ValueExpression(b)) }

    /// Equality of two expressions; two nils are equal.
    public static func == (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.equal, b) }
    /// Inequality of two expressions; true where one side is nil.
    public static func != (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.notEqual, b) }
    /// Smaller than another expression; false of nil.
    public static func < (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.less, b) }
    /// Smaller than another expression or equal; false of nil.
    public static func <= (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.lessOrEqual, b) }
    /// Greater than another expression; false of nil.
    public static func > (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.greater, b) }
    /// Greater than another expression or equal; false of nil.
    public static func >= (a: ValueExpression, b: ValueExpression) -> Where<Object> { a.compare(.greaterOrEqual, b) }

    /// Whether the value is one of a list.
    public func isIn(_ values: some Sequence<Value>) -> Where<Object> {
        Where(.isIn(expression, values.map(\.attributeValue)), problem: problem)
    }

    /// The first of two values that is not nil.
    public func or(_ other: Value) -> ValueExpression {
        ValueExpression(.function(.coalesce, [expression, .value(other.attributeValue)]), problem: problem)
    }
}

extension ValueExpression where Value: AttributeValue & Numeric {
    /// The sum.
    public static func + (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.add, b) }
    /// The sum.
    public static func + (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.add, ValueExpression(b)) }
    /// The difference.
    public static func - (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.subtract, b) }
    /// The difference.
    public static func - (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.subtract, ValueExpression(b)) }
    /// The product.
    public static func * (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.multiply, b) }
    /// The product.
    public static func * (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.multiply, ValueExpression(b)) }
    /// The quotient; of whole numbers a whole number, towards zero.
    public static func / (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.divide, b) }
    /// The quotient; of whole numbers a whole number, towards zero.
    public static func / (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.divide, ValueExpression(b)) }
    /// The remainder, with the sign of the dividend.
    public static func % (a: ValueExpression, b: Value) -> ValueExpression { a.apply(.modulo, ValueExpression(b)) }
}

/// The sum of a property and a number.
public func + <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) + b
}

/// The sum of two properties.
public func + <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) + ValueExpression(b)
}

/// The difference of a property and a number.
public func - <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) - b
}

/// The difference of two properties.
public func - <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) - ValueExpression(b)
}

/// The product of a property and a number.
public func * <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) * b
}

/// The product of two properties.
public func * <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) * ValueExpression(b)
}

/// The quotient of a property and a number.
public func / <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) / b
}

/// The quotient of two properties.
public func / <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: KeyPath<Object, V>) -> ValueExpression<
    Object, V
> {
    ValueExpression(a) / ValueExpression(b)
}

/// The remainder of a property divided by a number.
public func % <Object: ManagedObject, V: AttributeValue & Numeric>(a: KeyPath<Object, V>, b: V) -> ValueExpression<Object, V> {
    ValueExpression(a) % b
}

extension KeyPath where Root: ManagedObject, Value: TextAttribute {
    private func applied<Result>(_ function: Function) -> ValueExpression<Root, Result> {
        let own = ValueExpression(self)
        return ValueExpression<Root, Result>(.function(function, [own.expression]), problem: own.problem)
    }

    /// The number of Unicode scalars.
    public var length: ValueExpression<Root, Int> { applied(.length) }
    /// The text in capital letters.
    public var uppercase: ValueExpression<Root, String> { applied(.uppercase) }
    /// The text in small letters.
    public var lowercase: ValueExpression<Root, String> { applied(.lowercase) }
    /// The text without white space at its ends.
    public var trimmed: ValueExpression<Root, String> { applied(.trim) }
    /// The text as a comparison with options sees it.
    public func folded(_ options: TextOptions) -> ValueExpression<Root, String> { applied(.folded(options)) }
}

extension ValueExpression {
    /// A part of a date in a time zone.
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
    private static func aggregate<Property>(
        _ function: AggregateFunction, _ keyPath: KeyPath<Object, Property>
    ) -> ValueExpression {
        do throws(StorageError) {
            return ValueExpression(.aggregate(Aggregate(function, of: try KeyPathProbe.expression(keyPath))), problem: nil)
        } catch {
            return ValueExpression(.value(.null), problem: error)
        }
    }

    /// The total over a group; only in queries.
    public static func sum(_ keyPath: KeyPath<Object, Value>) -> ValueExpression { aggregate(.sum, keyPath) }
    /// The smallest value of a group; only in queries.
    public static func minimum(_ keyPath: KeyPath<Object, Value>) -> ValueExpression { aggregate(.minimum, keyPath) }
    /// The greatest value of a group; only in queries.
    public static func maximum(_ keyPath: KeyPath<Object, Value>) -> ValueExpression { aggregate(.maximum, keyPath) }
}

extension ValueExpression where Value == Int {
    /// The number of objects of a group; only in queries.
    public static func count() -> ValueExpression { ValueExpression(.aggregate(Aggregate(.count))) }
    /// The number of different values of a group; only in queries.
    public static func countDistinct(_ keyPath: KeyPath<Object, some Any>) -> ValueExpression { aggregate(.countDistinct, keyPath) }
}

extension ValueExpression where Value == Double {
    /// The mean over a group; only in queries.
    public static func average(_ keyPath: KeyPath<Object, some Any>) -> ValueExpression { aggregate(.average, keyPath) }
}
