internal import Polystore

/// A field with custom accessors.
protocol AccessedField<V>: FieldBase {
    associatedtype V
    /// The value, accessed through the custom getter and setter.
    var value: V { get set }
    /// The value that the accessors themselves read and assign.
    var primitiveValue: V? { get set }
}
