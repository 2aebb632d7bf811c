public import PolystoreFoundation

/// The identity of an object: the store, the root entity of its hierarchy, and a primary key that is never reused.
public struct ObjectKey: Sendable, Hashable {
    /// The identity of the store that contains the object.
    public let store: UUID
    /// The name of the root entity of the hierarchy.
    public let root: String
    /// The primary key within the hierarchy.
    public let key: Int64

    /// Creates an identity from its parts.
    public init(store: UUID, root: String, key: Int64) {
        self.store = store
        self.root = root
        self.key = key
    }
}

extension ObjectKey: CustomStringConvertible, LosslessStringConvertible {
    /// The URI of the object, `polystore://store/Root/key`.
    public var description: String { Self.prefix(store: store, root: root) + String(key) }

    /// Parses a URI. Returns nil if the text is not a URI of an object.
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

    /// Returns whether a text begins like the URI of an object.
    package static func isURI(_ text: String) -> Bool { text.utf8.starts(with: scheme.utf8) }
}

extension ObjectKey {
    /// Returns the URIs of identities, as constants that objects can be compared with.
    ///
    /// Lists of ids mostly belong to one store and hierarchy, so the prefix that adjacent ids share is created once.
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

    /// Returns the URI without the primary key.
    package static func prefix(store: UUID, root: String) -> String { "\(scheme)\(store.uuidString.lowercased())/\(root)/" }

    /// The URI as a constant that objects can be compared with.
    package var constant: Value { .string(description) }
}
