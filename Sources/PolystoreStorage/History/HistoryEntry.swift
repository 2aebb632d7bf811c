public import Foundation

/// A position in the history of one incarnation of a store.
public struct HistoryToken: Sendable, Hashable, Codable {
    /// The store.
    public let store: UUID
    /// The position; later transactions have greater ones.
    public let position: Int64

    /// A token.
    public init(store: UUID, position: Int64) {
        self.store = store
        self.position = position
    }
}

/// One committed transaction.
public struct HistoryEntry: Sendable, Hashable {
    /// Its place in the history.
    public let token: HistoryToken
    /// Microseconds since 1970.
    public let time: Int64
    /// The author as given by the program.
    public let author: String
    /// What changed: one change for each object, and one for each owner and link table, in the order in which they were first applied.
    ///
    /// An object that was added and deleted in the same transaction is not among them.
    public let changes: HistoryChanges

    /// An entry.
    public init(token: HistoryToken, time: Int64, author: String, changes: HistoryChanges) {
        self.token = token
        self.time = time
        self.author = author
        self.changes = changes
    }
}

/// The change of one object.
public struct HistoryChange: Sendable, Hashable {
    /// What happened.
    public enum Kind: Sendable, Hashable {
        /// The object was added.
        case insert
        /// The attributes in the set changed; those that the model keeps out of the history are not in it, so it may be empty.
        case update(SlotMask)
        /// The object was deleted.
        case delete
        /// Its pairs in a link table changed; the key is the owner's.
        case links(Int)
    }

    /// The entity of the object.
    public let entity: EntityIndex
    /// The key of the object.
    public let key: Int64
    /// What happened.
    public let kind: Kind
    /// What a deleted object had last in the attributes that the model preserves (`AttributeHistory.preserved`), by slot.
    ///
    /// A value is of the type that the attribute had then, also where a migration has given it another.
    public let tombstone: [Int: Value]

    /// A change.
    public init(entity: EntityIndex, key: Int64, kind: Kind, tombstone: [Int: Value] = [:]) {
        self.entity = entity
        self.key = key
        self.kind = kind
        self.tombstone = tombstone
    }
}
