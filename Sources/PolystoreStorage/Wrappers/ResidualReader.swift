/// Exact answers over a store that answers a plan only in part: what is left is filtered, sorted and cut here.
///
/// What the store answers exactly goes through as it is.
package struct ResidualReader {
    private let reader: any StorageReader
    private let schema: Schema

    /// A wrapper of a session.
    package init(_ reader: any StorageReader, schema: Schema) {
        self.reader = reader
        self.schema = schema
    }

    /// The rows of a plan, exactly. Where the store does not answer it they are held in memory until the cursor goes away.
    package func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        if reader.pushdown(of: plan) == .exact { return try reader.cursor(for: plan) }
        let evaluator = PredicateEvaluator(plan.predicate, schema: schema)
        let related = StoredRows(reader, schema)
        var sorter = RowSorter(plan, schema: schema)
        let batch = RowBatch()
        let source = try reader.cursor(for: stored(plan))
        let cursor: any RowCursor = plan.isLocal ? source : BlockRows(source, schema)
        while try cursor.next(into: batch) {
            related.begin(batch)
            for index in 0..<batch.count {
                let row = batch.row(index)
                if evaluator.matches(row, related) { try sorter.add(row, related) }
            }
            try related.throwFailure()
            try evaluator.throwStorageFailure()
        }
        return sorter.sorted()
    }

    /// The rows of a query's answer, exactly.
    package func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        let source = try cursor(for: plan.fetch)
        let rows: any RowCursor = plan.localSlots == nil ? BlockRows(source, schema) : source
        let related = StoredRows(reader, schema)
        let answer = QueryAnswer(plan, schema: schema)
        let batch = RowBatch()
        while try rows.next(into: batch) {
            related.begin(batch)
            do throws(QueryError) { try answer.add(batch, related) } catch { throw StorageError(error) }
            try related.throwFailure()
        }
        do throws(QueryError) { return try answer.result() } catch { throw StorageError(error) }
    }

    /// The part of a plan that the store answers exactly.
    func stored(_ plan: FetchPlan) -> FetchPlan {
        FetchPlan(entity: plan.entity, entities: plan.entities, predicate: pushed(plan))
    }

    /// The conjuncts that the store answers exactly.
    private func pushed(_ plan: FetchPlan) -> CheckedPredicate {
        let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        let exact = parts.filter { part in
            reader.pushdown(of: FetchPlan(entity: plan.entity, entities: plan.entities, predicate: part)) == .exact
        }
        let pushed = exact.isEmpty ? CheckedPredicate.constant(true) : (exact.count == 1 ? exact[0] : .and(exact))
        // Each by itself may be exact, and all together too much for a statement.
        let plan = FetchPlan(entity: plan.entity, entities: plan.entities, predicate: pushed)
        return reader.pushdown(of: plan) == .exact ? pushed : .constant(true)
    }
}

extension PredicateEvaluator {
    /// Throws the first error that an expression met, as one of a store.
    public func throwStorageFailure() throws(StorageError) {
        do throws(QueryError) { try throwFailure() } catch { throw StorageError(error) }
    }
}
