/// The part that a write transaction has in a bulk load.
public enum BulkLoad: Sendable, Hashable {
    /// The transaction is the whole load.
    case whole
    /// Further transactions of the same load follow. Work that is done best at the end, such as the creation of indexes, may be left to the
    /// last one.
    case part
    /// The transaction is the last one of a load in parts, and does what they have left.
    case last
}
