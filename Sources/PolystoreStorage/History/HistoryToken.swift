public import PolystoreFoundation

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

/// The textual form of a token, `store:position`.
extension HistoryToken: LosslessStringConvertible {
    /// The identity of the store, a colon, and the position.
    public var description: String { "\(store.uuidString.lowercased()):\(position)" }

    /// Parses the text of a token. Returns nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let store = UUID(uuidString: String(parts[0])), let position = Int64(parts[1]) else { return nil }
        self.init(store: store, position: position)
    }
}
