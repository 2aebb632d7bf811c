package import PolystoreSchema

/// Reads the cell at the end of a checked path, through related rows.
///
/// A path within the row is only a number, so that a copy needs no reference counting.
package struct PathReader: Sendable {
    /// The slot at the end; nil for the key.
    private let slot: Int?
    /// The path to the row at the end; nil if it is the row itself.
    private let way: Way?

    private final class Way: Sendable {
        let steps: [CheckedPath.Step]
        /// For each step, the possible entities of its destination. Rows of other entities have other slots.
        let families: [Set<EntityIndex>]

        init(_ steps: [CheckedPath.Step], _ schema: Schema) {
            self.steps = steps
            families = steps.map { Set(schema[$0.destination].family) }
        }
    }

    /// Creates a reader of a path.
    package init(_ path: CheckedPath, schema: Schema) {
        slot = if case .slot(let slot) = path.leaf { slot } else { nil }
        way = path.steps.isEmpty ? nil : Way(path.steps, schema)
    }

    /// Returns the cell of a row; null if a relationship of the path is nil or dangling.
    @inline(__always)
    package func cell(_ row: borrowing RowView, _ related: some RelatedRows) -> Cell {
        if let way { return follow(way, row, 0, related) }
        return read(row)
    }

    @inline(__always)
    private func read(_ row: borrowing RowView) -> Cell { if let slot { row[slot] } else { .int(row.key) } }

    private func follow(_ way: Way, _ row: borrowing RowView, _ position: Int, _ related: some RelatedRows) -> Cell {
        let step = way.steps[position]
        let key = row[step.slot]
        if key.isNull { return .null }
        guard let next = related.row(step.destination, key.int), way.families[position].contains(next.entity) else { return .null }
        return position + 1 < way.steps.count ? follow(way, next, position + 1, related) : read(next)
    }
}
