/// A pair of a link table.
@frozen
public struct LinkPair: Sendable, Hashable {
    /// The primary key of the object that owns the order.
    public var owner: Int64
    /// The position among the owner's members, with gaps, or 0 if the relationship is not ordered.
    public var rank: Int64
    /// The primary key of the other object.
    public var member: Int64

    /// Creates a pair.
    @inlinable
    public init(owner: Int64, rank: Int64 = 0, member: Int64) {
        self.owner = owner
        self.rank = rank
        self.member = member
    }
}
