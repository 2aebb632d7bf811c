public import Foundation

/// The identity of an object: the store, the root entity of its hierarchy and a key that is never used again.
public struct ObjectKey: Sendable, Hashable {
    /// The store that holds the object.
    public let store: UUID
    /// The name of the root entity of the hierarchy.
    public let root: String
    /// The key within the hierarchy.
    public let key: Int64

    /// An identity from its parts.
    public init(store: UUID, root: String, key: Int64) {
        self.store = store
        self.root = root
        self.key = key
    }
}
