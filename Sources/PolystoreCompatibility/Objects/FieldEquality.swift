internal import Polystore

// The comparison of the present value of a field in the form of CoreStore 4: `person.name .== "Ann"`. Its operator is that of the standard
// library for vectors. `==` is a condition of a request.

extension ValueContainer.Required where V: Equatable {
    /// Returns whether the value of a field equals another one.
    public static func .== (field: ValueContainer<Object>.Required<V>, value: V?) -> Bool { field.value == value }

    /// Returns whether the value of a field equals another one.
    public static func .== (value: V?, field: ValueContainer<Object>.Required<V>) -> Bool { value == field.value }

    /// Returns whether two fields have equal values.
    public static func .== <Other>(field: ValueContainer<Object>.Required<V>, other: ValueContainer<Other>.Required<V>) -> Bool {
        field.value == other.value
    }

    /// Returns whether two fields have equal values.
    public static func .== <Other>(field: ValueContainer<Object>.Required<V>, other: ValueContainer<Other>.Optional<V>) -> Bool {
        field.value == other.value
    }
}

extension ValueContainer.Optional where V: Equatable {
    /// Returns whether the value of a field equals another one. Two nils are equal.
    public static func .== (field: ValueContainer<Object>.Optional<V>, value: V?) -> Bool { field.value == value }

    /// Returns whether the value of a field equals another one. Two nils are equal.
    public static func .== (value: V?, field: ValueContainer<Object>.Optional<V>) -> Bool { value == field.value }

    /// Returns whether two fields have equal values. Two nils are equal.
    public static func .== <Other>(field: ValueContainer<Object>.Optional<V>, other: ValueContainer<Other>.Optional<V>) -> Bool {
        field.value == other.value
    }

    /// Returns whether two fields have equal values.
    public static func .== <Other>(field: ValueContainer<Object>.Optional<V>, other: ValueContainer<Other>.Required<V>) -> Bool {
        field.value == other.value
    }
}

extension RelationshipContainer.ToOne {
    /// Returns whether a field references an object, or nothing if that is nil.
    public static func .== (field: RelationshipContainer<Object>.ToOne<D>, object: D?) -> Bool { field.value == object }

    /// Returns whether a field references an object, or nothing if that is nil.
    public static func .== (object: D?, field: RelationshipContainer<Object>.ToOne<D>) -> Bool { object == field.value }

    /// Returns whether two fields reference the same object.
    public static func .== <Other>(
        field: RelationshipContainer<Object>.ToOne<D>, other: RelationshipContainer<Other>.ToOne<D>
    ) -> Bool { field.value == other.value }
}
