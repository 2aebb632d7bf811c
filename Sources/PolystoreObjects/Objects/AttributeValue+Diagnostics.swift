internal import PolystoreStorage

// An enum without `CaseIterable` has no placeholder. It conforms to `AttributeValue` nevertheless, so that the compiler reports the error at
// the property of a model: there `placeholder` of the type resolves to a marker. Any other declaration is preferred to the three below, and
// of these the one with more constraints.

extension AttributeValue {
    /// A value of some attribute type, for a type whose conformance does not compile, so that the compiler reports only this.
    @_disfavoredOverload
    public static var placeholder: [Bool] { [] }
}

extension AttributeValue where Self: RawRepresentable {
    /// Ends the process. No model with such a type compiles.
    @available(*, deprecated, message: "an enum must also conform to CaseIterable: enum Size: String, AttributeValue, CaseIterable")
    @_disfavoredOverload
    public static var placeholder: Self { fatalError("\(Self.self) has no placeholder: an enum must also conform to CaseIterable") }
}

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
    /// A marker of a type that has no placeholder.
    @_disfavoredOverload
    public static var placeholder: ManagedObject._WithoutPlaceholder { .init() }
}

/// Markers of the reasons why a type cannot be an attribute. Setters pass them to functions that are unavailable.
extension ManagedObject {
    /// A marker of a type with a raw value that conforms to `AttributeValue` without a placeholder.
    public struct _WithoutPlaceholder {}

    /// A marker of a model class.
    public struct _Object {
        /// The marker.
        public static var placeholder: _Object { .init() }
    }

    /// A marker of a type that does not conform to `AttributeValue`.
    public struct _Unstorable {
        /// The marker.
        public static var placeholder: _Unstorable { .init() }
    }

    /// Returns an attribute type.
    public static func _type<V: AttributeValue>(_ type: _Type<V>.Type) -> V.Type { V.self }

    /// Returns the marker of a model class.
    public static func _type<V: ManagedObject>(_ type: _Type<V>.Type) -> _Object.Type { _Object.self }

    /// Returns the marker of a type that does not conform to `AttributeValue`.
    @_disfavoredOverload
    public static func _type<V>(_ type: _Type<V>.Type) -> _Unstorable.Type { _Unstorable.self }

    /// Works like `_accept` for a property whose setter checks the type.
    @inlinable @inline(__always)
    public final func _acceptChecked<V: AttributeValue>(_ value: V, _ slot: Int) -> V? { _accept(value, slot) }

    /// An unconstrained overload that is never executed.
    @_disfavoredOverload
    public final func _acceptChecked<V>(_ value: V, _ slot: Int) -> V? { Self._broken() }
}
