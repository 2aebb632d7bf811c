public import Polystore

extension ObjectSnapshot where Object: CoreStoreObject {
    /// The value of a field: `snapshot.$name`. A custom getter of the field computes it from the values of the snapshot. An assignment changes
    /// only the snapshot.
    public subscript<F: SnapshotField>(dynamicMember keyPath: KeyPath<Object, F>) -> F.SnapshotValue {
        get {
            let prototype = Object.prototype()
            return withExtendedLifetime(prototype) { prototype[keyPath: keyPath]._value(in: self) }
        }
        set {
            let prototype = Object.prototype()
            withExtendedLifetime(prototype) { prototype[keyPath: keyPath]._setValue(newValue, in: &self) }
        }
    }

    /// The value of a virtual field, which its getter computes from the values of the snapshot.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember keyPath: KeyPath<Object, FieldContainer<Owner>.Virtual<V>>) -> V {
        let prototype = Object.prototype()
        return withExtendedLifetime(prototype) { prototype[keyPath: keyPath].value(in: self) }
    }
}

extension ObjectPublisher where Object: CoreStoreObject {
    /// Returns the value of a virtual field; nil if the object was deleted.
    public subscript<Owner: CoreStoreObject, V>(dynamicMember keyPath: KeyPath<Object, FieldContainer<Owner>.Virtual<V>>) -> V? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }

    /// Returns the value of a field: `publisher.$name`; nil if the object was deleted.
    public subscript<F: SnapshotField>(dynamicMember keyPath: KeyPath<Object, F>) -> F.SnapshotValue? {
        snapshot.map { $0[dynamicMember: keyPath] }
    }
}

extension ObjectPublisher {
    /// The object in the main actor's context of the stack that created the publisher; nil if the object was deleted, if the stack no longer
    /// exists, or if reading fails, which is reported to the logger.
    @MainActor public var object: Object? { try? stack?.viewContext.fetchExisting(objectID) }
}
