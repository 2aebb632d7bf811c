public import Polystore

/// A field in custom accessors.
public struct FieldProxy<V: AttributeValue> {
    private let field: ValueField<V>

    init(_ field: ValueField<V>) { self.field = field }

    /// The stored value, accessed without the custom getter and setter.
    public var value: V {
        get { field.stored }
        nonmutating set { field.stored = newValue }
    }

    /// The stored value, accessed without the custom getter and setter.
    public var primitiveValue: V {
        get { field.stored }
        nonmutating set { field.stored = newValue }
    }
}
