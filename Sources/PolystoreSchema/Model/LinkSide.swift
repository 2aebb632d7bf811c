/// The two ends of a link table.
public enum LinkSide: Sendable, Hashable {
    /// The end whose relationship gives the table its name. The table keeps the order of this relationship.
    case owner
    /// The other end.
    case member
}
