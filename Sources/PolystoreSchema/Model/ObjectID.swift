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
    public var description: String { Self.prefix(store: store, root: root) + String(key) }

    /// An identity from its URI; nil if the text is none.
    public init?(_ description: String) {
        guard Self.isURI(description) else { return nil }
        let parts = description.utf8.dropFirst(Self.scheme.utf8.count).split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[1].isEmpty, let store = UUID(uuidString: String(Substring(parts[0]))),
            let number = Int64(Substring(parts[2]))
        else { return nil }
        self.init(store: store, root: String(Substring(parts[1])), key: number)
    }

    private static let scheme = "polystore://"

    /// Whether a text begins as the URIs of objects do.
    package static func isURI(_ text: String) -> Bool { text.utf8.starts(with: scheme.utf8) }
}

extension ObjectKey {
    /// The URIs of identities, as constants to compare objects with.
    ///
    /// Lists of ids are mostly of one store and hierarchy: what is the same of neighbours is made once.
    package static func constants(_ keys: some Sequence<ObjectKey>) -> [Value] {
        var last: ObjectKey?, prefix = ""
        return keys.map { key in
            if last?.store != key.store || last?.root != key.root {
                prefix = Self.prefix(store: key.store, root: key.root)
                last = key
            }
            return .string(prefix + String(key.key))
        }
    }

    /// The URI without the key.
    package static func prefix(store: UUID, root: String) -> String { "\(scheme)\(store.uuidString.lowercased())/\(root)/" }

    /// The URI as a constant to compare objects with.
    package var constant: Value { .string(description) }
}
