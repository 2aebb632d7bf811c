/// The source of the pairs of a link table.
package enum LinkSource: Sendable, Hashable {
    /// There are no pairs.
    case none
    /// The pairs of a link table of the older version, with owner and member exchanged if it is flipped.
    case link(Int, isFlipped: Bool)
    /// Each object of the older version, paired with the destination of its to-one relationship. The former is the owner unless the pair is
    /// flipped.
    case slot(EntityIndex, Int, isFlipped: Bool)
}
