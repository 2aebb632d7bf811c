/// An entry of the history, in the form in which a store keeps it.
package struct StoredEntry: Sendable, Hashable {
    /// The position of the entry.
    package let position: Int64
    /// The parts of the entry.
    package let columns: [StoredColumn]

    /// Creates an entry.
    package init(position: Int64, columns: [StoredColumn]) {
        self.position = position
        self.columns = columns
    }
}
