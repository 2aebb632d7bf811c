internal import PolystoreSchema

/// The values of a row that conditions on its related objects read. They are read once, before the iteration over the related objects.
final class OuterValues {
    private var properties: [(path: CheckedPath, reader: PathReader)] = []
    private var values: [Value] = []

    /// Returns the position of the value of a property, which is read from now on.
    func position(_ path: CheckedPath, _ schema: Schema) -> Int {
        if let known = properties.firstIndex(where: { $0.path == path }) { return known }
        properties.append((path, PathReader(path, schema: schema)))
        values.append(.null)
        return properties.count - 1
    }

    /// Returns the value at a position, of the last row read.
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
    /// The error for bytes of a store that are not a valid value.
    package static var illFormed: QueryError {
        QueryError(.illFormed, "a stored value is invalid for its type; restore the store from a backup")
    }
}
