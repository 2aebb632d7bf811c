public import Foundation

/// A position in the history of one incarnation of a store.
public struct HistoryToken: Sendable, Hashable, Codable {
    /// The identity of the store.
    public let store: UUID
    /// The position. Later transactions have greater positions.
    public let position: Int64

    /// Creates a token.
    public init(store: UUID, position: Int64) {
        self.store = store
        self.position = position
    }
}

/// A committed transaction in the history.
public struct HistoryEntry: Sendable, Hashable {
    /// The position of the transaction in the history.
    public let token: HistoryToken
    /// The time of the commit, in microseconds since 1970.
    public let time: Int64
    /// The author that the program gave.
    public let author: String
    /// The changes: one for each object, and one for each owner and link table, in the order in which they were first applied.
    ///
    /// An object that was inserted and deleted in the same transaction is not included.
    public let changes: HistoryChanges

    /// Creates an entry.
    public init(token: HistoryToken, time: Int64, author: String, changes: HistoryChanges) {
        self.token = token
        self.time = time
        self.author = author
        self.changes = changes
    }
}

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
