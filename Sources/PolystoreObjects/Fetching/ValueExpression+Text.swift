internal import PolystoreStorage

extension ValueExpression where Value: TextAttribute {
    /// Returns the concatenation. It is nil if one of the texts is nil.
    public static func + (a: ValueExpression, b: ValueExpression) -> ValueExpression { a.apply(.concatenate, b) }

    /// Returns the concatenation with a constant text.
    public static func + (a: ValueExpression, b: String) -> ValueExpression {
        a + ValueExpression(.value(.string(b)), problem: nil)
    }

    /// Returns the concatenation with a property.
    public static func + (a: ValueExpression, b: KeyPath<Object, Value>) -> ValueExpression { a + ValueExpression(b) }
}

/// Returns the concatenation of a property and a constant text: `\.first + " " + \.last`. It is nil if the property is nil.
public func + <Object: ManagedObject, T: TextAttribute>(a: KeyPath<Object, T>, b: String) -> ValueExpression<Object, T> {
    ValueExpression(a) + b
}

/// Returns the concatenation of two properties. It is nil if one of them is nil.
public func + <Object: ManagedObject, T: TextAttribute>(a: KeyPath<Object, T>, b: KeyPath<Object, T>) -> ValueExpression<Object, T> {
    ValueExpression(a) + b
}
