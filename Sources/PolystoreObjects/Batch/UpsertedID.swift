internal import PolystoreStorage

/// The result of an upsert for one source.
public struct UpsertedID<Object: ManagedObject>: Sendable, Hashable {
    /// The object that now has the values.
    public let id: ObjectID<Object>
    /// Whether the upsert created the object; otherwise it changed an existing one.
    public let isInserted: Bool
}
