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
