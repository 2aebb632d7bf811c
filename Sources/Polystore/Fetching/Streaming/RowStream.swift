internal import PolystoreStorage

/// The rows of a plan from one store or several, in its order, one after the other. Of each store one batch is in memory.
final class RowStream {
    /// What the rows have of their objects.
    let fields: FetchPlan.Fields
    private let plan: FetchPlan
    private let schema: Schema
    /// Whether rows of several stores are compared; each source stands on a row then.
    private let isMerged: Bool
    private var sources: [Source] = []
    /// The source of the row that was given last.
    private var present: Source?
    private var toSkip = 0
    private var left = Int.max

    init(
        _ plan: FetchPlan, _ stores: [Int], _ sessions: SessionPool, _ schema: Schema, batchSize: Int = 256
    ) throws(StorageError) {
        self.plan = plan
        self.schema = schema
        isMerged = stores.count > 1
        var part = plan
        if isMerged {
            // Any attribute can be one that rows are compared by.
            if !plan.sort.isEmpty { part.fields = .all }
            // Any of the stores may have all the rows that are left out and all that are wanted.
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

    /// Where the rows of one store come from.
    private final class Source {
        let store: Int32
        let reader: ReadSession
        let cursor: any RowCursor
        /// The order, with the objects that it names as those of the store.
        let order: RowOrder
        let batch: RowBatch
        var index = -1
        /// The place of the row in the order, where rows of several stores are compared.
        var place: MergedPlace?
        /// The rows that those of the batch lead to, which are read together.
        private(set) lazy var related = StoredRows(reader)

        init(_ store: Int, _ reader: ReadSession, _ cursor: any RowCursor, _ order: RowOrder, _ batch: RowBatch) {
            self.store = Int32(truncatingIfNeeded: store)
            self.reader = reader
            self.cursor = cursor
            self.order = order
            self.batch = batch
        }

        /// Goes to the next row; false at the end.
        func step() throws(StorageError) -> Bool {
            index += 1
            if index < batch.count { return true }
            index = 0
            guard try cursor.next(into: batch) else { return false }
            related.begin(batch)
            return true
        }
    }

    /// Hands the next row and the position of its store to `body`; nil at the end.
    func next<R>(_ body: (borrowing RowView, Int32) throws(StorageError) -> R) throws(StorageError) -> R? {
        try nextRelated { row, store, _ throws(StorageError) in try body(row, store) }
    }

    /// The same with the rows that relationships of the row lead to.
    func nextRelated<R>(_ body: (borrowing RowView, Int32, StoredRows) throws(StorageError) -> R) throws(StorageError) -> R? {
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

    /// Goes to the next row of one store, and reads what it is compared by.
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
