public import Foundation

/// The name of a commit whose outcome its program does not know, by which the store can be asked later, also by another process.
public struct CommitToken: Sendable, Hashable, Codable, LosslessStringConvertible {
    /// The identity of the store that was to commit.
    public let storeID: UUID
    /// What the store knows the commit by: text of its own, without meaning to others.
    public let value: String

    /// A token that a store gives.
    public init(storeID: UUID, value: String) {
        self.storeID = storeID
        self.value = value
    }

    /// The token that `description` wrote; nil for any other text.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let storeID = UUID(uuidString: String(parts[0])) else { return nil }
        self.init(storeID: storeID, value: String(parts[1]))
    }

    /// The identity of the store, a slash and the value.
    public var description: String { "\(storeID.uuidString)/\(value)" }
}

/// What became of a commit.
public enum CommitOutcome: Sendable, Hashable {
    /// It is there and stays.
    case committed
    /// It is not there and never will be.
    case notCommitted
    /// The engine has not decided yet: ask again.
    case inProgress
    /// The store does not reach back to it any more.
    case unknown
}

/// A store that can say what became of a commit after `commitOutcomeUnknown`.
public protocol CommitOutcomeStorage: StorageInterface {
    /// What became of a commit.
    ///
    /// *Requires*: the token is one of this store (`details.commit` of a `commitOutcomeUnknown`).
    ///
    /// *Behavior*: an answer of `committed` or `notCommitted` never changes.
    func outcome(of token: CommitToken) throws(StorageError) -> CommitOutcome
}
