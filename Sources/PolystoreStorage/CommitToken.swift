public import PolystoreFoundation

/// An identifier of a commit whose outcome is in doubt. Any process can later ask the store for the outcome by this token.
public struct CommitToken: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// The identity of the store to which the commit belongs.
    public let storeID: UUID
    /// The store's own identifier of the commit. Only the store can interpret it.
    public let value: String

    /// Creates a token. Stores call this initialiser.
    public init(storeID: UUID, value: String) {
        self.storeID = storeID
        self.value = value
    }

    /// Parses the text that `description` returns. Returns nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let storeID = UUID(uuidString: String(parts[0])) else { return nil }
        self.init(storeID: storeID, value: String(parts[1]))
    }

    /// The identity of the store, a slash, and the value.
    public var description: String { "\(storeID.uuidString)/\(value)" }
}
