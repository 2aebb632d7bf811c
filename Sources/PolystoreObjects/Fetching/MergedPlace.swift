internal import PolystoreStorage

/// The position of a row in the common order of several stores.
struct MergedPlace {
    let store: Int
    private let key: Int64
    /// The values of the sort keys, read while the session of the store is open.
    private let values: [Value]

    init(_ row: borrowing RowView, _ store: Int, _ values: [Value]) {
        self.store = store
        key = row.key
        self.values = values
    }

    /// Returns whether this position comes first. If the sort keys are equal, the primary key and the store decide.
    func precedes(_ other: MergedPlace, _ sort: [CheckedSort]) -> Bool {
        let order = RowOrder.compare(values, other.values, sort)
        return order == 0 ? (key, store) < (other.key, other.store) : order < 0
    }
}
