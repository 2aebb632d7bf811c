public import PolystoreSchema

/// The order of a fetch: its keys, nil smallest, then the object's key.
public struct RowOrder: Sendable {
    private let keys: [(reader: PathReader, ascending: Bool)]

    /// The order of checked sort keys.
    public init(_ sort: [CheckedSort], schema: Schema) {
        keys = sort.map { (PathReader($0.path, schema: schema), $0.ascending) }
    }

    /// Negative, zero or positive; zero only for the same key.
    public func compare(_ a: borrowing RowView, _ b: borrowing RowView, _ related: some RelatedRows) -> Int {
        for key in keys {
            let order = CellOrder.compare(key.reader.cell(a, related), key.reader.cell(b, related))
            if order != 0 { return key.ascending ? order : -order }
        }
        return a.key < b.key ? -1 : (a.key > b.key ? 1 : 0)
    }
}
