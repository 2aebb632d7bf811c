internal import PolystoreStorage

/// A query for values of an entity that several stores hold: one result from the rows of all stores.
///
/// An average or a count of distinct values cannot be computed from those of parts, so the rows are grouped here. Each store returns only
/// the rows that satisfy the condition.
struct MergedQuery {
    private let plan: QueryPlan
    private let stores: [Int]

    init(_ plan: QueryPlan, _ stores: [Int]) {
        self.plan = plan
        self.stores = stores
    }

    func run(_ context: ObjectContext) throws(StorageError) -> [[Value]] {
        if dependsOnKeys(context.model.schema) {
            throw StorageError(
                .unsupported,
                "a query of \(context.model.schema[plan.fetch.entity].name) over several stores cannot group or select by the identity of objects; "
                    + "specify one configuration with From(\"configuration\")",
                details: .init(entity: context.model.schema[plan.fetch.entity].name)
            )
        }
        var part = plan
        let end = plan.fetch.limit?.addingReportingOverflow(plan.fetch.offset)
        part.fetch.limit = end.flatMap { $0.overflow ? nil : $0.partialValue }
        part.fetch.offset = 0
        part.fetch.fields = .some(ReadFields(plan, schema: context.model.schema).own)
        let answer = QueryAnswer(part, schema: context.model.schema)
        var places: [MergedPlace] = []
        try context.inOneSnapshot(of: stores) { () throws(StorageError) in
            for store in stores { try add(part, store, context, to: answer, &places) }
        }
        let rows: [[Value]]
        do throws(QueryError) { rows = try answer.result() } catch { throw StorageError(error) }
        guard case .rows = plan.kind else { return rows }
        let sorted = rows.indices.sorted { places[$0].precedes(places[$1], plan.fetch.sort) }
        return sorted.dropFirst(plan.fetch.offset).prefix(plan.fetch.limit ?? .max).map { rows[$0] }
    }

    /// Returns whether the result depends on the primary keys of objects: objects of two stores are different even if their keys are equal.
    private func dependsOnKeys(_ schema: Schema) -> Bool {
        if plan.valuesNameObjects { return true }
        guard case .groups(let grouping) = plan.kind else { return false }
        let compared = grouping.aggregates.filter { $0.function != .count }.compactMap(\.argument)
        return (grouping.keys + compared).contains { $0.isKey(schema) }
    }

    private func add(
        _ part: QueryPlan, _ store: Int, _ context: ObjectContext, to answer: QueryAnswer, _ places: inout [MergedPlace]
    ) throws(StorageError) {
        let schema = context.model.schema
        let order = RowOrder(part.fetch.bound(to: context.stack.storeID(store), in: schema).sort, schema: schema)
        let isSorted = if case .rows = plan.kind { true } else { false }
        var found: [MergedPlace] = []
        try context.withReader(store) { reader throws(StorageError) in
            let batch = RowBatch(), related = StoredRows(reader)
            let rows = try reader.cursor(for: part.fetch)
            let cursor: any RowCursor = part.localSlots == nil ? BlockRows(rows, schema) : rows
            while try cursor.next(into: batch) {
                related.begin(batch)
                do throws(QueryError) {
                    for index in 0..<batch.count where isSorted {
                        found.append(MergedPlace(batch.row(index), store, order.values(batch.row(index), related)))
                        try order.throwFailure()
                    }
                    try answer.add(batch, related)
                } catch { throw StorageError(error) }
                try related.throwFailure()
            }
        }
        places += found
    }
}

extension CheckedExpression {
    /// Returns whether the value is the primary key of an object.
    fileprivate func isKey(_ schema: Schema) -> Bool {
        switch self {
        case .path(let path), .outer(_, let path), .related(_, _, let path?, _): path.isKey(schema)
        case .value, .related: false
        case .function(_, let arguments, _): arguments.contains { $0.isKey(schema) }
        case .conditional(_, let a, let b, _): a.isKey(schema) || b.isKey(schema)
        }
    }
}

extension CheckedPath {
    fileprivate func isKey(_ schema: Schema) -> Bool {
        switch leaf {
        case .key: true
        case .slot(let slot): schema[entity].slots[slot].destination != nil
        }
    }
}
