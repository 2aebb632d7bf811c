public import PolystoreStorage

/// The change of one object by a transaction.
public struct ObjectChange: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: Sendable, Hashable {
        /// The object was inserted.
        case inserted
        /// Attributes and to-one relationships with these stored names changed. Empty if the model excludes all changed properties from the
        /// history.
        case updated(Set<String>)
        /// The object was deleted. Contains the values that the model preserves, by stored name.
        case deleted([String: Value])
        /// The destinations of a to-many relationship, or their order, changed. The change is reported for the side that owns the pairs; if
        /// the other side is a to-one relationship, the update of that object is reported instead. An object that was inserted or deleted
        /// with pairs has this change too, so that observers of the destinations are notified.
        case relinked(String)
    }

    /// The identity of the object.
    public let key: ObjectKey
    /// The name of its entity.
    public let entity: String
    /// The kind of the change.
    public let kind: Kind

    /// Returns the typed identity of the object.
    public func id<Object: ManagedObject>(_ type: Object.Type) -> ObjectID<Object> { ObjectID(key) }
}
