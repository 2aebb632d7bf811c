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

extension ObjectKey: CustomStringConvertible, LosslessStringConvertible {
    /// A URI, `polystore://store/Root/key`.
    public var description: String { "polystore://\(store.uuidString.lowercased())/\(root)/\(key)" }

    /// An identity from its URI; nil if the text is none.
    public init?(_ description: String) {
        guard description.hasPrefix("polystore://") else { return nil }
        let parts = description.dropFirst("polystore://".count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let store = UUID(uuidString: String(parts[0])), let number = Int64(parts[2]), !parts[1].isEmpty else {
            return nil
        }
        self.init(store: store, root: String(parts[1]), key: number)
    }
}
