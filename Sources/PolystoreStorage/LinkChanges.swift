/// The changes of one link table.
public struct LinkChanges: Sendable, Hashable {
    /// The position of the table in `Schema.links`.
    public let link: Int
    /// Pairs to remove, identified by owner and member. Removing a pair that does not exist has no effect.
    public var removed: [LinkPair]
    /// Pairs to add. Adding a pair that exists replaces its rank.
    public var added: [LinkPair]

    /// Creates the changes of a link table.
    public init(link: Int, removed: [LinkPair] = [], added: [LinkPair] = []) {
        self.link = link
        self.removed = removed
        self.added = added
    }
}
