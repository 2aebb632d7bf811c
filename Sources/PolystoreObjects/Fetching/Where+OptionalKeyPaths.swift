internal import PolystoreStorage

// Comparisons of a property with an optional one, such as that of an object at the end of a to-one relationship.

/// Returns a condition for equality of a property and an optional one: `\.salary == \.boss?.salary`. A nil equals no value.
public func == <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V?>) -> Where<Object> {
    ValueExpression(a).compare(.equal, ValueExpression(b))
}

/// Returns a condition for equality of an optional property and another one. A nil equals no value.
public func == <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V?>, b: KeyPath<Object, V>) -> Where<Object> {
    ValueExpression(a).compare(.equal, ValueExpression(b))
}

/// Returns a condition for inequality of a property and an optional one: `\.salary != \.boss?.salary`. It is true if the optional one is nil.
public func != <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V?>) -> Where<Object> {
    ValueExpression(a).compare(.notEqual, ValueExpression(b))
}

/// Returns a condition for inequality of an optional property and another one. It is true if the optional one is nil.
public func != <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V?>, b: KeyPath<Object, V>) -> Where<Object> {
    ValueExpression(a).compare(.notEqual, ValueExpression(b))
}

/// Returns a "less than" condition of a property and an optional one: `\.salary < \.boss?.salary`. It is false for nil.
public func < <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V?>) -> Where<Object> {
    ValueExpression(a).compare(.less, ValueExpression(b))
}

/// Returns a "less than" condition of an optional property and another one. It is false for nil.
public func < <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V?>, b: KeyPath<Object, V>) -> Where<Object> {
    ValueExpression(a).compare(.less, ValueExpression(b))
}

/// Returns a "less than or equal" condition of a property and an optional one: `\.salary <= \.boss?.salary`. It is false for nil.
public func <= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V?>) -> Where<Object> {
    ValueExpression(a).compare(.lessOrEqual, ValueExpression(b))
}

/// Returns a "less than or equal" condition of an optional property and another one. It is false for nil.
public func <= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V?>, b: KeyPath<Object, V>) -> Where<Object> {
    ValueExpression(a).compare(.lessOrEqual, ValueExpression(b))
}

/// Returns a "greater than" condition of a property and an optional one: `\.salary > \.boss?.salary`. It is false for nil.
public func > <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V?>) -> Where<Object> {
    ValueExpression(a).compare(.greater, ValueExpression(b))
}

/// Returns a "greater than" condition of an optional property and another one. It is false for nil.
public func > <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V?>, b: KeyPath<Object, V>) -> Where<Object> {
    ValueExpression(a).compare(.greater, ValueExpression(b))
}

/// Returns a "greater than or equal" condition of a property and an optional one: `\.salary >= \.boss?.salary`. It is false for nil.
public func >= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V>, b: KeyPath<Object, V?>) -> Where<Object> {
    ValueExpression(a).compare(.greaterOrEqual, ValueExpression(b))
}

/// Returns a "greater than or equal" condition of an optional property and another one. It is false for nil.
public func >= <Object: ManagedObject, V: AttributeValue>(a: KeyPath<Object, V?>, b: KeyPath<Object, V>) -> Where<Object> {
    ValueExpression(a).compare(.greaterOrEqual, ValueExpression(b))
}
