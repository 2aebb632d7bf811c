/// The change of one object.
public struct HistoryChange: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: Sendable, Hashable {
        /// The object was inserted.
        case insert
        /// The attributes in the set changed. Attributes that the model excludes from the history are not in the set, so it may be empty.
        case update(SlotMask)
        /// The object was deleted.
        case delete
        /// The pairs of the object in a link table changed. The key is that of the owner.
        case links(Int)
    }

    /// The entity of the object.
    public let entity: EntityIndex
    /// The primary key of the object.
    public let key: Int64
    /// The kind of the change.
    public let kind: Kind
    /// The last values of a deleted object in the attributes that the model preserves (`AttributeHistory.preserved`), by slot.
    ///
    /// A value has the type that the attribute had at that time, even if a migration changed the type.
    public let tombstone: [Int: Value]

    /// Creates a change.
    public init(entity: EntityIndex, key: Int64, kind: Kind, tombstone: [Int: Value] = [:]) {
        self.entity = entity
        self.key = key
        self.kind = kind
        self.tombstone = tombstone
    }
}
