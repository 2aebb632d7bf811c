internal import PolystoreSchema

/// What the conditions on the related objects of a row look at in the row itself: read once, before the related objects are gone through.
final class OuterValues {
    private var properties: [(path: CheckedPath, reader: PathReader)] = []
    private var values: [Value] = []

    /// The position of the value of a property, which is read from now on.
    func position(_ path: CheckedPath, _ schema: Schema) -> Int {
        if let known = properties.firstIndex(where: { $0.path == path }) { return known }
        properties.append((path, PathReader(path, schema: schema)))
        values.append(.null)
        return properties.count - 1
    }

    /// The value at a position, of the row that was read last.
    subscript(position: Int) -> Value { values[position] }

    /// Reads the values of a row.
    func read(_ row: borrowing RowView, _ related: some RelatedRows, _ failure: EvaluationFailure) {
        for (position, property) in properties.enumerated() {
            let value = Value(property.reader.cell(row, related), as: property.path.type)
            if value == nil { failure.error = failure.error ?? .illFormed }
            values[position] = value ?? .null
        }
    }
}

extension QueryError {
    /// A store gave bytes that are no value.
    static var illFormed: QueryError { QueryError(.illFormed, "a stored value is none of its type") }
}
