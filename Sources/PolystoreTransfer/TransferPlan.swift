/// The progress of a transfer or a load.
public struct TransferProgress: Sendable {
    /// The name of the current entity or link table.
    public let name: String
    /// The number of its completed rows.
    public let done: Int
    /// The total number of its rows.
    public let total: Int
    /// The number of completed rows of all entities.
    public let allDone: Int
    /// The total number of rows of all entities.
    public let allTotal: Int
}

/// The result of a transfer or a check for one entity or link table.
public struct TransferItem: Sendable, Hashable {
    /// The name of the root entity or of the link table.
    public let name: String
    /// The digest of the rows, which includes their number.
    public let digest: Digest
}

/// The digests of one entity or link table in two stores.
public struct VerifyItem: Sendable, Hashable {
    /// The name of the root entity or of the link table.
    public let name: String
    /// The digest in the first store, or nil if it has no such entity or link table.
    public let first: Digest?
    /// The digest in the second store, or nil if it has no such entity or link table.
    public let second: Digest?

    /// Whether both stores contain the same data.
    public var isSame: Bool { first == second && first != nil }
}
