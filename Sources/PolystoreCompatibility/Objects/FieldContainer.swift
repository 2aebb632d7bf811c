internal import Polystore

/// The fields in the form of CoreStore 7 and later: property wrappers whose `$name` is the field itself.
public enum FieldContainer<Object: CoreStoreObject> {
    /// The getter of a property, with the object and the field.
    public typealias Getter<V> = (_ object: ObjectProxy<Object>, _ field: ObjectProxy<Object>.FieldProxy<V>) -> V
    /// The setter of a property, with the object, the field and the assigned value.
    public typealias Setter<V> = (_ object: ObjectProxy<Object>, _ field: ObjectProxy<Object>.FieldProxy<V>, _ newValue: V) -> Void
}
