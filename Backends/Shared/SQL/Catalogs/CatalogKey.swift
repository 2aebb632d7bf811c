internal import PolystoreStorage

/// The source of a row key.
package enum CatalogKey: Sendable, Hashable {
    /// An integer column that identifies a row directly.
    case column(String)
    /// The number of the row in the order of columns that identify a row uniquely.
    ///
    /// Rows are numbered within each snapshot, so that the keys of a snapshot are consistent. Every request numbers all rows again: this is
    /// suitable for reading complete tables, not for looking up single objects.
    case counted(by: [String])

    /// The greatest number that may be a key; its negation is the least. Counters are set above the greatest key in use and need room to
    /// rise.
    package static let greatest: Int64 = 1 << 62

    /// Returns whether a column is the key.
    func isColumn(_ name: String) -> Bool { if case .column(let key) = self { ExactText(key) == ExactText(name) } else { false } }
}
