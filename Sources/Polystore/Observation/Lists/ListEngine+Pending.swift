internal import PolystoreStorage

/// Lists of a detached transaction: the committed contents, corrected by the pending changes in its memory.
extension ListEngine {
    /// Fetches everything as a transaction sees it.
    func fetchPending(_ context: ObjectContext) throws(StorageError) {
        let stores = try core.stores(for: query.plan.entity, query.configurations)
        let rows = try pendingRows(stores, context)
        take(Step(rows: .fetched(rows, stores: stores, isComplete: true), contents: contents(of: rows), changes: nil, updated: []))
    }

    /// Returns the differences in the contents that the transaction sees; nil if there are none.
    ///
    /// - Complexity: That of a fetch with pending changes: all objects of the list are evaluated again.
    func stepPending(_ context: ObjectContext) throws(StorageError) -> Step? {
        let routed = (try? core.stores(for: query.plan.entity, query.configurations)) ?? []
        let rows = try pendingRows(routed, context)
        if routed == stores { return changed(to: rows, isComplete: true) }
        return Step(rows: .fetched(rows, stores: routed, isComplete: true), contents: contents(of: rows), changes: nil, updated: [])
    }

    private func pendingRows(_ stores: [Int], _ context: ObjectContext) throws(StorageError) -> ListRows {
        var plan = query.plan, rows = ListRows(plan.sort)
        plan.limit = nil
        plan.offset = 0
        for found in try PendingFetch.rows(plan, stores, context) {
            rows.append(
                ListRows.Row(item: Item(key: found.object._key, store: found.object._store), version: found.digest, values: found.keys))
        }
        return rows
    }
}
