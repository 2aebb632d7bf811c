public import PolystoreSchema

/// Reads the cell at the end of a checked path, through related rows.
public struct PathReader: Sendable {
    private let steps: [CheckedPath.Step]
    private let leaf: CheckedPath.Leaf
    /// For each step, the entities that its destination can have: rows of others have other slots.
    private let families: [Set<EntityIndex>]

    /// A reader of a path.
    public init(_ path: CheckedPath, schema: Schema) {
        steps = path.steps
        leaf = path.leaf
        families = path.steps.map { Set(schema[$0.destination].family) }
    }

    /// Whether the path stays in the row itself.
    public var isLocal: Bool { steps.isEmpty }

    /// The cell of a row; null where a relationship on the way is nil or leads nowhere.
    @inline(__always)
    public func cell(_ row: borrowing RowView, _ related: some RelatedRows) -> Cell {
        if steps.isEmpty { return read(row) }
        return follow(row, 0, related)
    }

    @inline(__always)
    private func read(_ row: borrowing RowView) -> Cell {
        switch leaf {
        case .key: .int(row.key)
        case .slot(let slot): row[slot]
        }
    }

    private func follow(_ row: borrowing RowView, _ position: Int, _ related: some RelatedRows) -> Cell {
        let step = steps[position]
        let key = row[step.slot]
        if key.isNull { return .null }
        guard let next = related.row(step.destination, key.int), families[position].contains(next.entity) else { return .null }
        return position + 1 < steps.count ? follow(next, position + 1, related) : read(next)
    }
}
