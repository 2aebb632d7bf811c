/// Exact answers over a store that answers a plan only in part: what is left is filtered, sorted and cut here.
///
/// What the store answers exactly goes through as it is. Of other rows only the columns are read that are looked at or asked for, block by
/// block; none is kept but those that have to be sorted.
package struct ResidualReader {
    private let reader: any StorageReader
    private let schema: Schema
    private let report: (@Sendable (ResidualWork) -> Void)?

    /// A wrapper of a session.
    ///
    /// - Parameter report: Told what an answer has read that the store does not give by itself.
    package init(_ reader: any StorageReader, schema: Schema, report: (@Sendable (ResidualWork) -> Void)? = nil) {
        self.reader = reader
        self.schema = schema
        self.report = report
    }

    /// The rows of a plan, exactly.
    package func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        if reader.pushdown(of: plan) == .exact { return try reader.cursor(for: plan) }
        let fields = ReadFields(plan, schema: schema), count = count(plan)
        let related = StoredRows(reader, schema, fields: fields.related)
        var source = stored(plan)
        source.fields = plan.fields.adding(fields.own)
        // Of all rows the store may know the order; where some are cut out, no more than those are kept.
        if plan.limit == nil {
            var sorted = source
            sorted.sort = plan.sort
            if plan.sort.isEmpty || reader.pushdown(of: sorted) != .unsupported {
                return FilteredRows(try rows(sorted, plan.isLocal), plan, related, schema, count)
            }
        } else if plan.sort.isEmpty {
            return FilteredRows(try rows(source, plan.isLocal), plan, related, schema, count)
        }
        let evaluator = PredicateEvaluator(plan.predicate, schema: schema)
        var sorter = RowSorter(plan, schema: schema)
        let batch = RowBatch(), cursor = try rows(source, plan.isLocal)
        while try cursor.next(into: batch) {
            count.read += batch.count
            related.begin(batch)
            for index in 0..<batch.count {
                let row = batch.row(index)
                related.beginRow()
                if evaluator.matches(row, related) {
                    try sorter.add(row, related)
                    count.found += 1
                }
            }
            try related.throwFailure()
            try evaluator.throwStorageFailure()
        }
        return sorter.sorted()
    }

    /// The rows of a query's answer, exactly.
    package func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        let fields = ReadFields(plan, schema: schema)
        var fetch = plan.fetch
        fetch.fields = .some(fields.own)
        // Rows of a fetch that is itself answered here are counted there.
        let count = reader.pushdown(of: fetch) == .exact ? count(fetch) : ResidualCount("", nil)
        let source = try cursor(for: fetch), isLocal = plan.localSlots != nil
        let rows: any RowCursor = isLocal ? source : BlockRows(source, schema)
        let related = StoredRows(reader, schema, fields: fields.related)
        let answer = QueryAnswer(plan, schema: schema)
        let batch = RowBatch()
        while try rows.next(into: batch) {
            count.read += batch.count
            related.begin(batch)
            do throws(QueryError) { try answer.add(batch, related) } catch { throw StorageError(error) }
            try related.throwFailure()
        }
        count.found = count.read
        do throws(QueryError) { return try answer.result() } catch { throw StorageError(error) }
    }

    private func count(_ plan: FetchPlan) -> ResidualCount { ResidualCount(schema.entities[plan.entity].name, report) }

    /// The rows of what the store answers exactly, in blocks where other rows are looked at beside them.
    private func rows(_ plan: FetchPlan, _ isLocal: Bool) throws(StorageError) -> any RowCursor {
        let rows = try reader.cursor(for: plan)
        return isLocal ? rows : BlockRows(rows, schema)
    }

    /// The part of a plan that the store answers.
    func stored(_ plan: FetchPlan) -> FetchPlan {
        FetchPlan(entity: plan.entity, entities: plan.entities, predicate: pushed(plan))
    }

    /// The conjuncts that the store answers, with rows that others or they themselves remove.
    private func pushed(_ plan: FetchPlan) -> CheckedPredicate {
        let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        let answered = parts.filter { part in
            reader.pushdown(of: FetchPlan(entity: plan.entity, entities: plan.entities, predicate: part)) != .unsupported
        }
        let pushed = answered.isEmpty ? CheckedPredicate.constant(true) : (answered.count == 1 ? answered[0] : .and(answered))
        // Each by itself may be answered, and all together too much for a statement.
        let plan = FetchPlan(entity: plan.entity, entities: plan.entities, predicate: pushed)
        return reader.pushdown(of: plan) == .unsupported ? .constant(true) : pushed
    }
}

extension PredicateEvaluator {
    /// Throws the first error that an expression met, as one of a store.
    public func throwStorageFailure() throws(StorageError) {
        do throws(QueryError) { try throwFailure() } catch { throw StorageError(error) }
    }
}
