package import PolystoreSchema

/// The order of a fetch: its sort keys with nil smallest, then the object's key.
package final class RowOrder {
    private enum Reader {
        case path(PathReader)
        case expression(ExpressionEvaluator)
    }

    private let keys: [(reader: Reader, ascending: Bool)]
    private let sort: [CheckedSort]
    /// Whether all sort keys are attributes of the rows themselves, so that a comparison of two rows computes and reads nothing else.
    package let isPlain: Bool
    private let failure = EvaluationFailure()

    /// Creates the order of checked sort keys.
    package init(_ sort: [CheckedSort], schema: Schema) {
        self.sort = sort
        isPlain = sort.allSatisfy { key in if case .path(let path) = key.expression { path.steps.isEmpty } else { false } }
        keys = sort.map { [failure] key in
            if case .path(let path) = key.expression { return (.path(PathReader(path, schema: schema)), key.ascending) }
            return (.expression(ExpressionEvaluator(key.expression, schema, failure)), key.ascending)
        }
    }

    /// Returns a negative number, zero or a positive number; zero only for the same key.
    package func compare(_ a: borrowing RowView, _ b: borrowing RowView, _ related: some RelatedRows) -> Int {
        for key in keys {
            let order: Int
            switch key.reader {
            case .path(let reader): order = CellOrder.compare(reader.cell(a, related), reader.cell(b, related))
            case .expression(let evaluator): order = evaluator.value(a, related).compare(to: evaluator.value(b, related))
            }
            if order != 0 { return key.ascending ? order : -order }
        }
        return a.key < b.key ? -1 : (a.key > b.key ? 1 : 0)
    }

    /// Returns the positions of a batch's rows in this order, which must be a plain one.
    ///
    /// Most pairs differ in the first eight bytes of the first key: rows are compared by these, and by all keys only if they are equal.
    ///
    /// - Complexity: O(*n* log *n*) comparisons of two numbers, if keys rarely have equal beginnings.
    package func positions(_ rows: RowBatch) -> [Int] {
        let related = NoRelatedRows()
        var items: [(prefix: UInt64, position: Int)] = []
        items.reserveCapacity(rows.count)
        for position in 0..<rows.count { items.append((prefix(rows.row(position)), position)) }
        items.sort { a, b in
            if a.prefix != b.prefix { return a.prefix < b.prefix }
            return compare(rows.row(a.position), rows.row(b.position), related) < 0
        }
        return items.map(\.position)
    }

    /// Returns the positions of a batch's rows in this order, by the given values of their sort keys.
    package func positions(_ rows: RowBatch, by values: [[Value]]) -> [Int] {
        (0..<rows.count).sorted { a, b in
            let order = Self.compare(values[a], values[b], sort)
            return order == 0 ? rows.key(a) < rows.key(b) : order < 0
        }
    }

    /// Appends the values of the sort keys of a row to a batch, as cells of a row with the same primary key.
    package func appendKeys(of row: borrowing RowView, _ related: some RelatedRows, to batch: RowBatch) {
        let cells = batch.appendRow(key: row.key, version: row.version, entity: row.entity, slots: keys.count)
        for (position, key) in keys.enumerated() {
            switch key.reader {
            case .path(let reader):
                let cell = reader.cell(row, related)
                if cell.isNoNumber(sort[position].expression.type) { failure.error = failure.error ?? .illFormed }
                cells[position] = batch.copy(cell)
            case .expression(let evaluator):
                let cell = batch.cell(for: evaluator.value(row, related))
                // The two representations of zero are one value.
                cells[position] = cell.kind == .real && cell.real == 0 ? .real(0) : cell
            }
        }
    }

    /// Returns the primary keys of rows in this order, by the values of their sort keys that `appendKeys` has appended to a batch.
    package func primaryKeys(byKeys rows: RowBatch) -> [Int64] {
        guard let first = keys.first else { return (0..<rows.count).map(rows.key).sorted() }
        var items: [(prefix: UInt64, position: Int)] = []
        items.reserveCapacity(rows.count)
        for position in 0..<rows.count {
            let prefix = CellOrder.prefix(rows.row(position)[0])
            items.append((first.ascending ? prefix : ~prefix, position))
        }
        items.sort { a, b in a.prefix == b.prefix ? isLess(rows, a.position, b.position) : a.prefix < b.prefix }
        return items.map { rows.key($0.position) }
    }

    private func isLess(_ rows: RowBatch, _ a: Int, _ b: Int) -> Bool {
        let left = rows.row(a), right = rows.row(b)
        for (position, key) in keys.enumerated() {
            let order = CellOrder.compare(left[position], right[position])
            if order != 0 { return key.ascending ? order < 0 : order > 0 }
        }
        return left.key < right.key
    }

    /// Returns a number whose order agrees with that of the first key, or that is equal for all rows if the key is computed.
    @inline(__always)
    private func prefix(_ row: borrowing RowView) -> UInt64 {
        guard let first = keys.first else { return UInt64(bitPattern: row.key) ^ 1 << 63 }
        guard case .path(let reader) = first.reader else { return 0 }
        let prefix = CellOrder.prefix(reader.cell(row, NoRelatedRows()))
        return first.ascending ? prefix : ~prefix
    }

    /// Compares rows that are no longer available by the values of their sort keys. Returns a negative number, zero or a positive number.
    package static func compare(_ a: [Value], _ b: [Value], _ sort: [CheckedSort]) -> Int {
        for (index, key) in sort.enumerated() {
            let order = a[index].compare(to: b[index])
            if order != 0 { return key.ascending ? order : -order }
        }
        return 0
    }

    /// Returns the values of the sort keys of a row, for comparisons when the row is no longer available.
    package func values(_ row: borrowing RowView, _ related: some RelatedRows) -> [Value] {
        var values: [Value] = []
        for (key, item) in zip(keys, sort) {
            switch key.reader {
            case .path(let reader): values.append(Value(reader.cell(row, related), as: item.expression.type) ?? .null)
            case .expression(let evaluator): values.append(evaluator.value(row, related))
            }
        }
        return values
    }

    /// Throws the first error of the computation of a key.
    package func throwFailure() throws(QueryError) { try failure.rethrow() }
}
