public import Polystore

private func condition<O: CoreStoreObject, F: ComparableField>(
    _ keyPath: KeyPath<O, F>, _ comparison: Comparison, _ value: F.ComparedValue
) -> Where<O> {
    Where(keyPath) { path throws(StorageError) in
        .compare(.path(path), comparison, .value(try O.prototype()[keyPath: keyPath]._constant(value)))
    }
}

private func condition<O: CoreStoreObject, F: ComparableField>(
    _ keyPath: KeyPath<O, F>, isIn values: some Sequence<F.ComparedValue>
) -> Where<O> {
    Where(keyPath) { path throws(StorageError) in
        let field = O.prototype()[keyPath: keyPath]
        var constants: [Value] = []
        for value in values { constants.append(try field._constant(value)) }
        return .isIn(.path(path), constants)
    }
}

/// Returns a condition for the equality of a field: `\.$name == "Ann"`. Two nils are equal. A deleted object is `invalidPredicate`.
public func == <O: CoreStoreObject, F: ComparableField>(keyPath: KeyPath<O, F>, value: F.ComparedValue) -> Where<O> {
    condition(keyPath, .equal, value)
}

/// Returns a condition for the inequality of a field, which is true if one side is nil. A deleted object is `invalidPredicate`.
public func != <O: CoreStoreObject, F: ComparableField>(keyPath: KeyPath<O, F>, value: F.ComparedValue) -> Where<O> {
    condition(keyPath, .notEqual, value)
}

/// Returns a less-than condition, which is false for nil.
public func < <O: CoreStoreObject, F: OrderedField>(keyPath: KeyPath<O, F>, value: F.ComparedValue) -> Where<O> {
    condition(keyPath, .less, value)
}

/// Returns a less-than-or-equal condition, which is false for nil.
public func <= <O: CoreStoreObject, F: OrderedField>(keyPath: KeyPath<O, F>, value: F.ComparedValue) -> Where<O> {
    condition(keyPath, .lessOrEqual, value)
}

/// Returns a greater-than condition, which is false for nil.
public func > <O: CoreStoreObject, F: OrderedField>(keyPath: KeyPath<O, F>, value: F.ComparedValue) -> Where<O> {
    condition(keyPath, .greater, value)
}

/// Returns a greater-than-or-equal condition, which is false for nil.
public func >= <O: CoreStoreObject, F: OrderedField>(keyPath: KeyPath<O, F>, value: F.ComparedValue) -> Where<O> {
    condition(keyPath, .greaterOrEqual, value)
}

/// Returns a condition for whether a sequence contains the value of a field: `["Ann", "Bob"] ~= \.$name`.
public func ~= <O: CoreStoreObject, F: ComparableField>(values: some Sequence<F.ComparedValue>, keyPath: KeyPath<O, F>) -> Where<O> {
    condition(keyPath, isIn: values)
}

/// Returns a condition for whether a sequence contains the value of a field that can be nil.
public func ~= <O: CoreStoreObject, F: ComparableField, V>(values: some Sequence<V>, keyPath: KeyPath<O, F>) -> Where<O>
where F.ComparedValue == V? {
    condition(keyPath, isIn: values.map(Optional.some))
}

/// Returns a condition for whether a to-one relationship references the object that a snapshot, a publisher or a monitor represents.
public func == <O: CoreStoreObject, F: ToOneField>(
    keyPath: KeyPath<O, F>, representation: some ObjectRepresentation<F.Destination>
) -> Where<O> {
    Where(keyPath) { .compare(.path($0), .equal, .value(representation.objectID.key.constant)) }
}

/// Returns a condition for whether a to-one relationship does not reference the object that a snapshot, a publisher or a monitor represents.
public func != <O: CoreStoreObject, F: ToOneField>(
    keyPath: KeyPath<O, F>, representation: some ObjectRepresentation<F.Destination>
) -> Where<O> {
    Where(keyPath) { .compare(.path($0), .notEqual, .value(representation.objectID.key.constant)) }
}

extension String {
    /// Creates the stored names along a key path, separated by dots: `String(keyPath: \Person.$name)`. A key path to a property that is not
    /// stored is a programming error, which is reported to the logger; the text is then empty.
    public init<O: ManagedObject, V>(keyPath: KeyPath<O, V>) {
        do throws(StorageError) { self = try KeyPathProbe.resolve(keyPath).description } catch {
            _ = StoreLogging.reportMisuse(error)
            self = ""
        }
    }
}
