/// How far a transfer or a load has come.
public struct TransferProgress: Sendable {
    /// The entity or link table at work.
    public let name: String
    /// Rows of it that are done.
    public let done: Int
    /// Rows of it in all.
    public let total: Int
    /// Rows of everything that are done.
    public let allDone: Int
    /// Rows of everything in all.
    public let allTotal: Int
}

/// What was moved or found of one entity or link table.
public struct TransferItem: Sendable, Hashable {
    /// The name of the root entity or of the link table.
    public let name: String
    /// The digest of its rows, which knows their number.
    public let digest: Digest
}

/// One item of two stores side by side.
public struct VerifyItem: Sendable, Hashable {
    /// The name of the root entity or of the link table.
    public let name: String
    /// The digest in the first store; nil where it has no such entity.
    public let first: Digest?
    /// The digest in the second store.
    public let second: Digest?

    /// Whether both hold the same.
    public var isSame: Bool { first == second && first != nil }
}
