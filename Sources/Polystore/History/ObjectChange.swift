public import PolystoreStorage

/// What a transaction did to one object.
public struct ObjectChange: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// The object was added.
        case inserted
        /// Attributes and to-one relationships with these stored names changed; none where the model keeps those that did out of the history.
        case updated(Set<String>)
        /// The object was deleted; what the model preserves of it, by stored name.
        case deleted([String: Value])
        /// Which objects a relationship to many leads to changed, or their order. It is told of the side that owns the pairs; where the
        /// other side of a relationship leads to one object, that object's update says so instead. An object that was added or deleted with
        /// pairs has this change as well: by it those at the other ends learn of it.
        case relinked(String)
    }

    /// The identity of the object.
    public let key: ObjectKey
    /// The name of its entity.
    public let entity: String
    /// What happened.
    public let kind: Kind

    /// The typed identity of the object.
    public func id<Object: ManagedObject>(_ type: Object.Type) -> ObjectID<Object> { ObjectID(key) }
}
