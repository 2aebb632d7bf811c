internal import Polystore

/// The assignment of a field in the form of CoreStore 4: `person.name .= "Ann"`.
infix operator .= : AssignmentPrecedence

extension ValueContainer.Required {
    /// Assigns a value to a field.
    public static func .= (field: ValueContainer<Object>.Required<V>, value: V) { field.value = value }

    /// Assigns the value of another field.
    public static func .= <Other>(field: ValueContainer<Object>.Required<V>, other: ValueContainer<Other>.Required<V>) {
        field.value = other.value
    }
}

extension ValueContainer.Optional {
    /// Assigns a value to a field.
    public static func .= (field: ValueContainer<Object>.Optional<V>, value: V?) { field.value = value }

    /// Assigns the value of another field.
    public static func .= <Other>(field: ValueContainer<Object>.Optional<V>, other: ValueContainer<Other>.Optional<V>) {
        field.value = other.value
    }

    /// Assigns the value of another field.
    public static func .= <Other>(field: ValueContainer<Object>.Optional<V>, other: ValueContainer<Other>.Required<V>) {
        field.value = other.value
    }
}

extension TransformableContainer.Required {
    /// Assigns a value to a field.
    public static func .= (field: TransformableContainer<Object>.Required<V>, value: V) { field.value = value }

    /// Assigns the value of another field.
    public static func .= <Other>(field: TransformableContainer<Object>.Required<V>, other: TransformableContainer<Other>.Required<V>) {
        field.value = other.value
    }
}

extension TransformableContainer.Optional {
    /// Assigns a value to a field.
    public static func .= (field: TransformableContainer<Object>.Optional<V>, value: V?) { field.value = value }

    /// Assigns the value of another field.
    public static func .= <Other>(field: TransformableContainer<Object>.Optional<V>, other: TransformableContainer<Other>.Optional<V>) {
        field.value = other.value
    }

    /// Assigns the value of another field.
    public static func .= <Other>(field: TransformableContainer<Object>.Optional<V>, other: TransformableContainer<Other>.Required<V>) {
        field.value = other.value
    }
}

extension RelationshipContainer.ToOne {
    /// Assigns a destination to a field.
    public static func .= (field: RelationshipContainer<Object>.ToOne<D>, object: D?) { field.value = object }

    /// Assigns the destination of another field.
    public static func .= <Other>(field: RelationshipContainer<Object>.ToOne<D>, other: RelationshipContainer<Other>.ToOne<D>) {
        field.value = other.value
    }
}

extension RelationshipContainer.ToManyOrdered {
    /// Assigns destinations to a field, in order.
    public static func .= (field: RelationshipContainer<Object>.ToManyOrdered<D>, objects: some Sequence<D>) {
        field.value = Array(objects)
    }

    /// Assigns the destinations of another field, in order.
    public static func .= <Other>(
        field: RelationshipContainer<Object>.ToManyOrdered<D>, other: RelationshipContainer<Other>.ToManyOrdered<D>
    ) {
        field.value = other.value
    }
}

extension RelationshipContainer.ToManyUnordered {
    /// Assigns destinations to a field.
    public static func .= (field: RelationshipContainer<Object>.ToManyUnordered<D>, objects: some Sequence<D>) {
        field.value = Set(objects)
    }

    /// Assigns the destinations of another field.
    public static func .= <Other>(
        field: RelationshipContainer<Object>.ToManyUnordered<D>, other: RelationshipContainer<Other>.ToManyUnordered<D>
    ) {
        field.value = other.value
    }

    /// Assigns the destinations of another field.
    public static func .= <Other>(
        field: RelationshipContainer<Object>.ToManyUnordered<D>, other: RelationshipContainer<Other>.ToManyOrdered<D>
    ) {
        field.value = Set(other.value)
    }
}
