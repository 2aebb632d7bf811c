/// Exact answers over a store that answers a plan only in part: what is left is filtered, sorted and cut here.
public struct ResidualReader {
    private let reader: any StorageReader
    private let schema: Schema

    /// A wrapper of a session.
    public init(_ reader: any StorageReader, schema: Schema) {
        self.reader = reader
        self.schema = schema
    }

    /// The rows of a plan, exactly. They are held in memory until the cursor goes away.
    public func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        let evaluator = PredicateEvaluator(plan.predicate, schema: schema)
        let related = StoredRows(reader, schema)
        var sorter = RowSorter(plan, schema: schema)
        let batch = RowBatch()
        let cursor = try reader.cursor(for: stored(plan))
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                if evaluator.matches(row, related) { try sorter.add(row, related) }
            }
            try related.throwFailure()
            try evaluator.throwStorageFailure()
        }
        let sorted = try sorter.sorted(related)
        try related.throwFailure()
        return sorted
    }

    /// The rows of a query's answer, exactly.
    public func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] {
        let rows = try cursor(for: plan.fetch)
        let related = StoredRows(reader, schema)
        let answer = QueryAnswer(plan, schema: schema)
        let batch = RowBatch()
        while try rows.next(into: batch) {
            do throws(QueryError) { try answer.add(batch, related) } catch { throw StorageError(error) }
            try related.throwFailure()
        }
        do throws(QueryError) { return try answer.result() } catch { throw StorageError(error) }
    }

    /// The part of a plan that the store answers exactly.
    public func stored(_ plan: FetchPlan) -> FetchPlan {
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

/// Related rows read one by one from a session and kept.
public final class StoredRows: RelatedRows {
    private struct Place: Hashable {
        let root: EntityIndex
        let key: Int64
    }

    private let reader: () throws(StorageError) -> any StorageReader
    private let schema: Schema
    private var rows: [Place: RowBatch] = [:]
    private var failure: StorageError?

    /// The rows that a session sees.
    public convenience init(_ reader: any StorageReader, _ schema: Schema) {
        self.init({ () throws(StorageError) in reader }, schema)
    }

    /// The rows that a session sees which is asked for when something is read.
    public init(_ reader: @escaping () throws(StorageError) -> any StorageReader, _ schema: Schema) {
        self.reader = reader
        self.schema = schema
    }

    /// The row of a key; nil when there is none, or when reading failed, which `throwFailure` tells.
    public func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        let place = Place(root: schema[entity].root, key: key)
        if let batch = rows[place] { return batch.count > 0 ? batch.row(0) : nil }
        let batch = RowBatch(capacity: 1)
        do throws(StorageError) { try reader().rows(place.root, keys: [key], into: batch) } catch { failure = failure ?? error }
        rows[place] = batch
        return batch.count > 0 ? batch.row(0) : nil
    }

    /// The rows that a to-many relationship leads to; none when reading failed, which `throwFailure` tells.
    public func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        do throws(StorageError) { try MemberRows(reader(), schema).forEach(entity, relationship, of: key, body) } catch {
            failure = failure ?? error
        }
    }

    /// Throws the first error that reading met.
    public func throwFailure() throws(StorageError) { if let failure { throw failure } }
}
