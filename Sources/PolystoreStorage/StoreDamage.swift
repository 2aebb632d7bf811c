/// Damage of a store that is not a wrong value of an object: of its file, or of an index.
package struct StoreDamage: Sendable, Hashable {
    /// The table whose indexes have to be rebuilt; nil if that does not mend the damage.
    package let indexedTable: String?
    /// A sentence that describes the damage and contains no value.
    package let sentence: String

    /// Creates a description of damage.
    package init(indexedTable: String?, _ sentence: String) {
        self.indexedTable = indexedTable
        self.sentence = sentence
    }
}
