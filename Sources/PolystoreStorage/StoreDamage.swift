/// Damage of a store that is not a wrong value of an object: of its file, of its tables, or of an index.
package struct StoreDamage: Sendable, Hashable {
    /// The damaged part of a store.
    package enum Part: Sendable, Hashable {
        /// The file: nothing in it can be changed safely.
        case file
        /// A part that no repair mends and that does not endanger others.
        case unmended(table: String?)
        /// The indexes of a table and what the engine keeps beside them, which are made again from the rows.
        ///
        /// - Parameter unique: The index concerned if the engine cannot make it while rows have the same values under its constraint.
        case indexes(table: String, unique: String?)
        /// Objects that have the same values under a unique constraint, in ascending order.
        ///
        /// - Parameter index: The index of the constraint.
        case duplicates(index: String, ResolvedConstraint, keys: [Int64])
        /// Several rows of a hierarchy with the same primary key.
        case key(EntityIndex, Int64)
        /// An owner with members that have no rank.
        case ranks(link: Int, owner: Int64)
    }

    /// The damaged part.
    package let part: Part
    /// A sentence that describes the damage and contains no value. It is empty for duplicates, which the caller describes.
    package let sentence: String

    /// Creates a description of damage.
    package init(_ part: Part, _ sentence: String) {
        self.part = part
        self.sentence = sentence
    }
}
