internal import PolystoreStorage

/// The minimum and maximum values of properties, read from the first and last entries of indexes.
struct IndexEdges {
    private let reader: KeyValueReader
    private let plan: QueryPlan
    private let edges: [Edge]

    private struct Edge {
        let slot: Int
        let isFirst: Bool
        let use: IndexUse
    }

    /// Creates the reader, or nil when the query has other aggregates or groups, or when no index contains exactly the rows of the
    /// condition in the order of the property.
    init?(_ plan: QueryPlan, _ reader: KeyValueReader) {
        guard case .groups(let grouping) = plan.kind, grouping.keys.isEmpty, !grouping.aggregates.isEmpty else { return nil }
        var edges: [Edge] = []
        for aggregate in grouping.aggregates {
            guard [.minimum, .maximum].contains(aggregate.function), case .path(let path)? = aggregate.argument, path.steps.isEmpty,
                case .slot(let slot) = path.leaf, let use = Self.use(plan.fetch, path, slot, reader.core.layout)
            else { return nil }
            edges.append(Edge(slot: slot, isFirst: aggregate.function == .minimum, use: use))
        }
        self.reader = reader
        self.plan = plan
        self.edges = edges
    }

    /// Returns a use of an index that contains all rows of the condition whose property is not nil, in the order of the property.
    private static func use(_ fetch: FetchPlan, _ path: CheckedPath, _ slot: Int, _ layout: KeyValueLayout) -> IndexUse? {
        let parts = if case .and(let parts) = fetch.predicate { parts } else { [fetch.predicate] }
        let known = parts.filter { $0 != .constant(true) } + [.not(.isNil(path))]
        for index in layout.indexes[fetch.entity] where layout.schema[index.entity].family.allSatisfy(fetch.entities.contains) {
            let use = IndexUse(index, .and(known))
            if use.isExact, let position = index.slots.firstIndex(of: slot), position <= use.fixed { return use }
        }
        return nil
    }

    /// Returns the answer, or nil when the first or last value is longer than an index entry.
    func answer() throws(StorageError) -> [[Value]]? {
        let answer = QueryAnswer(plan, schema: reader.core.schema)
        let batch = RowBatch(capacity: edges.count)
        for edge in edges {
            let cursor = try reader.engine.cursor(edge.use.index.map)
            guard try Self.isFound(edge, cursor) else { continue }
            let entry = IndexEntry(edge.use.index, reader.core), count = reader.core.layout.kinds[edge.use.index.entity].count
            if entry.isCut(cursor.key) { return nil }
            let cells = batch.appendRow(key: 0, version: 0, entity: edge.use.index.entity, slots: count)
            cells.update(repeating: .null, count: count)
            guard entry.read(cursor.key, into: cells, batch) else { return nil }
            // The bytes of the cursor become invalid when it moves, so they are copied.
            batch.keepLastRow(reader.core.schema)
            for slot in 0..<count where slot != edge.slot { cells[slot] = .null }
        }
        do throws(QueryError) {
            try answer.add(batch, RelatedRecords(reader))
            return try answer.result()
        } catch { throw StorageError(error) }
    }

    /// Moves to the first or last entry of the intervals. Returns whether there is one.
    private static func isFound(_ edge: Edge, _ cursor: any OrderedCursor) throws(StorageError) -> Bool {
        for interval in edge.isFirst ? edge.use.intervals : edge.use.intervals.reversed() {
            if edge.isFirst {
                if try cursor.seek(interval.low), interval.high.withUnsafeBytes({ compareBytes(cursor.key, $0) }) < 0 { return true }
            } else {
                let isThere = try cursor.seek(interval.high) ? cursor.previous() : cursor.last()
                if isThere, interval.low.withUnsafeBytes({ compareBytes(cursor.key, $0) }) >= 0 { return true }
            }
        }
        return false
    }
}
