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
