internal import PolystoreObjects

extension ListEngine {
    /// Fetches everything, as a context sees it.
    func fetch(in context: ObjectContext) throws(StorageError) {
        if context.tracker != nil { return try fetchPending(context) }
        try context.inOneSnapshot { () throws(StorageError) in try fetch(try context.heldSessions) }
    }

    /// Fetches everything.
    func fetch(_ sessions: SessionPool) throws(StorageError) {
        take(try fetched(try core.stores(for: query.plan.entity, query.configurations), sessions))
    }

    func fetched(_ stores: [Int], _ sessions: SessionPool) throws(StorageError) -> Step {
        let (rows, isComplete) = try fetchRows(stores, sessions)
        var seen: [Int: SeenHistory] = [:]
        if !dependencies.ways.isEmpty || ownsPairs { for store in stores { seen[store] = try SeenHistory(try sessions.reader(store)) } }
        return Step(
            rows: .fetched(rows, stores: stores, isComplete: isComplete), contents: contents(of: rows), changes: nil, updated: [],
            isWhole: true, seen: seen)
    }

    /// The number of rows to fetch. Beyond its window a list with a limit keeps some rows, so that some can leave before it is fetched
    /// again.
    var wanted: Int? {
        query.limit.map { limit in Self.sum(Self.sum(query.offset, limit), max(16, limit / 4)) }
    }

    private func fetchRows(_ stores: [Int], _ sessions: SessionPool) throws(StorageError) -> (ListRows, isComplete: Bool) {
        var plan = query.plan
        plan.limit = wanted
        let stream = try RowStream(plan, stores, sessions, core.model.schema, batchSize: 1024)
        var rows = ListRows(plan.sort)
        while let row = try stream.nextRelated({ row, store, related throws(StorageError) in try self.row(row, store, related) }) {
            rows.append(row)
        }
        return (rows, wanted.map { rows.count < $0 } ?? true)
    }

    func row(_ row: borrowing RowView, _ store: Int32, _ related: StoredRows) throws(StorageError) -> ListRows.Row {
        var values: [Value] = []
        if !query.plan.sort.isEmpty {
            let order = evaluation(of: store).order
            values = order.values(row, related)
            try related.throwFailure()
            do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        }
        return ListRows.Row(item: Item(key: row.key, store: store), version: row.version, values: values)
    }

    /// Fetches everything again and returns the differences.
    func refetched(_ sessions: SessionPool, _ observed: Set<Item>) throws(StorageError) -> Step? {
        let (next, isComplete) = try fetchRows(stores, sessions)
        return changed(to: next, isComplete: isComplete, observed)
    }

    /// Returns the step to other rows; nil if nothing differs.
    func changed(to next: ListRows, isComplete: Bool, _ observed: Set<Item> = []) -> Step? {
        var places = Dictionary(zip(rows.items, rows.items.indices)) { first, _ in first }
        // Rows with other sort values have moved; rows with equal ones have not, even if another comparison of the lists were possible.
        var touched: Set<Item> = [], updated: Set<Item> = []
        for (position, item) in next.items.enumerated() {
            guard let place = places.removeValue(forKey: item) else {
                touched.insert(item)
                continue
            }
            if !rows.hasValues(of: next, position, at: place) { touched.insert(item) }
            if rows.versions[place] != next.versions[position] || observed.contains(item) { updated.insert(item) }
        }
        touched.formUnion(places.keys)
        var step = finish(.fetched(next, stores: stores, isComplete: isComplete), contents(of: next), touched, updated)
        step?.isWhole = true
        return step
    }
}
