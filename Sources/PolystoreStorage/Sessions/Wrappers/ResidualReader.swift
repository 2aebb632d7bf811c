/// A reader that returns exact results from a store that evaluates a plan only partially: it filters, sorts, and limits the rows itself.
///
/// Plans that the store evaluates exactly are passed through. For other plans only the columns that are examined or requested are read,
/// block by block. Rows are buffered only if they have to be sorted: a few thousand rows as they are, the sort keys of more.
package struct ResidualReader {
    /// The number of rows that are buffered for an order.
    private static let mostBufferedRows = 4096

    private let reader: any StorageReader
    private let schema: Schema
    private let isSnapshot: Bool
    private let report: (@Sendable (ResidualWork) -> Void)?

    /// Creates a wrapper of a session.
    ///
    /// - Parameters:
    ///   - isSnapshot: Whether the rows that the session sees do not change, so that they can be read again.
    ///   - report: Receives the amount of residual work of a result that the store does not compute by itself.
    package init(
        _ reader: any StorageReader, schema: Schema, isSnapshot: Bool = false, report: (@Sendable (ResidualWork) -> Void)? = nil
    ) {
        self.reader = reader
        self.schema = schema
        self.isSnapshot = isSnapshot
        self.report = report
    }

    /// Returns a cursor over exactly the rows of a plan.
    package func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        if reader.pushdown(of: plan) == .exact { return try reader.cursor(for: plan) }
        return try residualCursor(for: plan, count(plan))
    }

    private func residualCursor(for plan: FetchPlan, _ count: ResidualCount) throws(StorageError) -> any RowCursor {
        let fields = ReadFields(plan, schema: schema)
        let related = StoredRows(reader, schema, fields: fields.related, counting: count)
        var source = stored(plan)
        source.fields = plan.fields.adding(fields.own)
        // If all rows are requested, the store may sort them, unless a sort key fails for rows that the filter removes. If there is a limit,
        // the sorter buffers no more rows than the limit requires.
        if plan.limit == nil {
            var sorted = source
            sorted.sort = plan.sort
            let canFail = plan.sort.contains { $0.expression.canFail }
            if plan.sort.isEmpty || !canFail && reader.pushdown(of: sorted) != .unsupported {
                return FilteredRows(try rows(sorted, plan.isLocal), plan, related, schema, count)
            }
        } else if plan.sort.isEmpty {
            return FilteredRows(try rows(source, plan.isLocal), plan, related, schema, count)
        }
        if isSortedByKeys(plan, fields) {
            source.fields = .some(fields.own)
            let sorter = KeySorter(plan, schema: schema)
            try forEachMatch(plan, of: source, related, count) { row throws(StorageError) in try sorter.add(row, related) }
            return sorter.sorted(reader)
        }
        var sorter = RowSorter(plan, schema: schema)
        try forEachMatch(plan, of: source, related, count) { row throws(StorageError) in try sorter.add(row, related) }
        return sorter.sorted()
    }

    /// Whether the rows of a plan are sorted without buffering them, because there may be many: they contain more than what the order and the
    /// condition read, and the session sees them unchanged when it reads them again.
    private func isSortedByKeys(_ plan: FetchPlan, _ fields: ReadFields) -> Bool {
        if !isSnapshot || plan.fields.adding(fields.own) == .some(fields.own) { return false }
        guard let limit = plan.limit else { return true }
        return limit > Self.mostBufferedRows - min(plan.offset, Self.mostBufferedRows)
    }

    /// Calls a closure with each row that satisfies the condition of a plan.
    private func forEachMatch(
        _ plan: FetchPlan, of source: FetchPlan, _ related: StoredRows, _ count: ResidualCount,
        _ body: (borrowing RowView) throws(StorageError) -> Void
    ) throws(StorageError) {
        let evaluator = PredicateEvaluator(plan.predicate, schema: schema), batch = RowBatch(), cursor = try rows(source, plan.isLocal)
        while try cursor.next(into: batch) {
            count.read += batch.count
            related.begin(batch)
            for index in 0..<batch.count {
                let row = batch.row(index)
                related.beginRow()
                if evaluator.matches(row, related) {
                    try body(row)
                    count.found += 1
                }
            }
            try related.throwFailure()
            try evaluator.throwStorageFailure()
        }
    }

    /// Returns exactly the result rows of a value query.
    package func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        let fields = ReadFields(plan, schema: schema)
        var fetch = plan.fetch
        fetch.fields = .some(fields.own)
        // If the fetch is itself evaluated here, its own cursor counts the rows.
        let count = count(fetch), isExact = reader.pushdown(of: fetch) == .exact, isLocal = plan.localSlots != nil
        let source = isExact ? try reader.cursor(for: fetch) : try residualCursor(for: fetch, count)
        let rows: any RowCursor = isLocal ? source : BlockRows(source, schema)
        let related = StoredRows(reader, schema, fields: fields.related, counting: count)
        let answer = QueryAnswer(plan, schema: schema)
        let batch = RowBatch()
        while try rows.next(into: batch) {
            if isExact { count.read += batch.count }
            related.begin(batch)
            do throws(QueryError) { try answer.add(batch, related) } catch { throw StorageError(error) }
            try related.throwFailure()
        }
        if isExact { count.found = count.read }
        do throws(QueryError) { return try answer.result() } catch { throw StorageError(error) }
    }

    private func count(_ plan: FetchPlan) -> ResidualCount { ResidualCount(schema.entities[plan.entity].name, report) }

    /// Returns a cursor over rows that the store evaluates exactly, in blocks if related rows are read as well.
    private func rows(_ plan: FetchPlan, _ isLocal: Bool) throws(StorageError) -> any RowCursor {
        let rows = try reader.cursor(for: plan)
        return isLocal ? rows : BlockRows(rows, schema)
    }

    /// Returns the part of a plan that the store evaluates.
    func stored(_ plan: FetchPlan) -> FetchPlan {
        FetchPlan(entity: plan.entity, entities: plan.entities, predicate: pushed(plan))
    }

    /// Returns the conjuncts that the store evaluates. The resulting rows may include some that the residual filter removes.
    ///
    /// Conjuncts that can fail come last. Each is evaluated only for rows that satisfy the ones before it, and an error of one must not be
    /// hidden by the ones after it.
    private func pushed(_ plan: FetchPlan) -> CheckedPredicate {
        let parts = if case .and(let parts) = plan.predicate { parts } else { [plan.predicate] }
        var answered: [CheckedPredicate] = [], isExact = true
        for part in parts {
            let pushdown = reader.pushdown(of: FetchPlan(entity: plan.entity, entities: plan.entities, predicate: part))
            // The store would evaluate it for rows that the filter above removes.
            if part.canFail, pushdown == .exact, !isExact { break }
            if pushdown != .unsupported { answered.append(part) }
            // The rows for which it fails are found above, so the store must not remove them.
            if part.canFail, pushdown != .exact { break }
            isExact = isExact && pushdown == .exact
        }
        let pushed = answered.isEmpty ? CheckedPredicate.constant(true) : (answered.count == 1 ? answered[0] : .and(answered))
        // Each conjunct alone may be supported although all together are too much for one statement.
        let plan = FetchPlan(entity: plan.entity, entities: plan.entities, predicate: pushed)
        return reader.pushdown(of: plan) == .unsupported ? .constant(true) : pushed
    }
}

extension PredicateEvaluator {
    /// Throws the first error of an expression as an error of a store.
    package func throwStorageFailure() throws(StorageError) {
        do throws(QueryError) { try throwFailure() } catch { throw StorageError(error) }
    }
}
