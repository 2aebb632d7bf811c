internal import PolystoreStorage

/// A row of a source that a transfer has left out.
public struct RejectedRow: Sendable, Hashable {
    /// The entity of the row, with its name in the target.
    public let entity: String
    /// The primary key.
    public let key: Int64
    /// The attribute or relationship that the target cannot have, with its name in the target; nil if it is not known.
    public let property: String?
    /// The problem, as a sentence.
    public let reason: String
    /// The hierarchy of the row in the source.
    let root: EntityIndex
}
