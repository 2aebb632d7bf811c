/// A SHA-256 digest of the canonical form of a schema or an entity.
public struct SchemaHash: Sendable, Hashable, CustomStringConvertible {
    /// The digest as four big-endian words.
    public let words: [UInt64]

    /// Creates the digest of the UTF-8 bytes of a text.
    public init(of text: String) { words = SHA256.digest(Array(text.utf8)) }

    /// Creates the digest of the declarations that determine the stored form of an entity's objects. Inherited properties belong to the
    /// entity that declares them.
    ///
    /// As in the hash of a schema, default values, rules of values, limits of relationships, and names in earlier versions are excluded.
    public init(of entity: Entity) { self.init(of: SchemaText.canonical(entities: [entity])) }

    /// Creates a digest from its hexadecimal form. Returns nil if the text is not 64 hexadecimal digits.
    public init?(hex: String) {
        guard hex.utf8.count == 64 else { return nil }
        var words: [UInt64] = []
        var rest = Substring(hex)
        while !rest.isEmpty {
            guard let word = UInt64(rest.prefix(16), radix: 16) else { return nil }
            words.append(word)
            rest = rest.dropFirst(16)
        }
        self.words = words
    }

    /// Sixty-four hexadecimal digits.
    public var description: String {
        words.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
