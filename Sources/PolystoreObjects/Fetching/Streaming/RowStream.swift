internal import PolystoreStorage

/// The rows of a plan from one or more stores, in its order. One batch per store is in memory.
package final class RowStream {
    /// The fields that the rows contain.
    let fields: FetchPlan.Fields
    private let plan: FetchPlan
    private let schema: Schema
    /// Whether rows of several stores are merged. In that case each source is positioned at a row.
    private let isMerged: Bool
    private var sources: [Source] = []
    /// The source of the most recently returned row.
    private var present: Source?
    private var toSkip = 0
    private var left = Int.max

    package init(
        _ plan: FetchPlan, _ stores: [Int], _ sessions: SessionPool, _ schema: Schema, batchSize: Int = 256
    ) throws(StorageError) {
        self.plan = plan
        self.schema = schema
        isMerged = stores.count > 1
        var part = plan
        if isMerged {
            // Rows may be compared by any attribute.
            if !plan.sort.isEmpty { part.fields = .all }
            // One of the stores may contain all skipped and all returned rows.
            (toSkip, left) = (plan.offset, plan.limit ?? .max)
            part.limit = plan.limit.map { $0.addingReportingOverflow(plan.offset) }.flatMap { $0.overflow ? nil : $0.partialValue }
            part.offset = 0
        }
        fields = part.fields
        if isMerged { try sessions.open(Set(stores)) }
        for store in stores {
            let reader = try sessions.reader(store)
            let rows = try reader.cursor(for: part)
            let order = RowOrder(part.bound(to: reader.store.storeID, in: schema).sort, schema: schema)
            let cursor: any RowCursor = order.isPlain ? rows : BlockRows(rows, schema)
            let source = Source(store, reader, cursor, order, RowBatch(capacity: batchSize))
            let hasRows = isMerged ? try advance(source) : true
            if hasRows { sources.append(source) }
        }
    }

    /// The source of the rows of one store.
    private final class Source {
        let store: Int32
        let reader: ReadSession
        let cursor: any RowCursor
        /// The order, in which referenced objects are bound to the store.
        let order: RowOrder
        let batch: RowBatch
        var index = -1
        /// The position of the row in the order, if rows of several stores are merged.
        var place: MergedPlace?
        /// The destination rows of the batch, which are read together.
        private(set) lazy var related = StoredRows(reader)

        init(_ store: Int, _ reader: ReadSession, _ cursor: any RowCursor, _ order: RowOrder, _ batch: RowBatch) {
            self.store = Int32(truncatingIfNeeded: store)
            self.reader = reader
            self.cursor = cursor
            self.order = order
            self.batch = batch
        }

        /// Advances to the next row; returns false at the end.
        func step() throws(StorageError) -> Bool {
            index += 1
            if index < batch.count { return true }
            index = 0
            guard try cursor.next(into: batch) else { return false }
            related.begin(batch)
            return true
        }
    }

    /// Passes the next row and the position of its store to `body`; returns nil at the end.
    package func next<R>(_ body: (borrowing RowView, Int32) throws(StorageError) -> R) throws(StorageError) -> R? {
        try nextRelated { row, store, _ throws(StorageError) in try body(row, store) }
    }

    /// Passes the next row, the position of its store and the destination rows of its relationships to `body`; returns nil at the end.
    package func nextRelated<R>(_ body: (borrowing RowView, Int32, StoredRows) throws(StorageError) -> R) throws(StorageError) -> R? {
        guard let source = try isMerged ? smallest() : only() else { return nil }
        return try body(source.batch.row(source.index), source.store, source.related)
    }

    private func only() throws(StorageError) -> Source? {
        guard let source = sources.first, try source.step() else { return nil }
        return source
    }

    private func smallest() throws(StorageError) -> Source? {
        while left > 0 {
            if let present, !(try advance(present)) { sources.removeAll { $0 === present } }
            present = sources.min(by: comesBefore)
            if toSkip == 0 || present == nil {
                left -= 1
                return present
            }
            toSkip -= 1
        }
        return nil
    }

    /// Advances to the next row of one store, and reads its sort values.
    private func advance(_ source: Source) throws(StorageError) -> Bool {
        guard try source.step() else { return false }
        let row = source.batch.row(source.index)
        source.place = MergedPlace(row, Int(source.store), source.order.values(row, source.related))
        try source.related.throwFailure()
        do throws(QueryError) { try source.order.throwFailure() } catch { throw StorageError(error) }
        return true
    }

    private func comesBefore(_ a: Source, _ b: Source) -> Bool {
        guard let first = a.place, let second = b.place else { return false }
        return first.precedes(second, plan.sort)
    }
}
