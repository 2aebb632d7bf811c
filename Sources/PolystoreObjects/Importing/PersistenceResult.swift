public import PolystoreStorage

/// The result of the import of a value.
public enum PersistenceResult: Sendable {
    /// A new object.
    case inserted(ObjectKey)
    /// An existing object that was changed.
    case updated(ObjectKey)
    /// An existing object that already had the values.
    case unchanged(ObjectKey)
    /// The value was skipped.
    case skipped
    /// The value could not be imported. Other values are not affected.
    case failed(any Error)

    /// Returns the result for a new object.
    public static func insert<Object: ManagedObject>(_ id: ObjectID<Object>) -> PersistenceResult { .inserted(id.key) }

    /// Returns the result for an existing object that was changed.
    public static func update<Object: ManagedObject>(_ id: ObjectID<Object>) -> PersistenceResult { .updated(id.key) }
}
