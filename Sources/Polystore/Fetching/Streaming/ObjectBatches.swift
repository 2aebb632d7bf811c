internal import PolystoreStorage

/// The objects of a request, batch by batch.
///
/// A batch comes in two steps: `read` waits for the store and touches no object, so that it can be done on another thread; `takeObjects`
/// makes the objects where their context belongs.
final class ObjectBatches<Object: ManagedObject> {
    private enum Source {
        /// Rows of one snapshot.
        case rows(SessionPool, RowStream?)
        /// Objects that are loaded by their ids: what lies in a context that follows commits must not be older than the context.
        case ids(ArraySlice<ObjectID<Object>>?)
        /// Objects that had to be found together, because changes that are only in memory decide which they are.
        case objects([Object])
        case ended
    }

    private let from: From<Object>
    private let context: ObjectContext
    /// When reading has to end; its sessions have it too.
    let limit = WorkLimit()
    private var source: Source
    /// The right to a snapshot that is not that of a transaction.
    private var seat: StreamSeat?
    /// Whether rows come from a session that others use too, so that they must be read where those are.
    let readsInPlace: Bool
    /// The rows that were read, with the stores that they are from.
    private let rows: RowBatch
    private var stores: [Int32] = []

    /// The objects of a request in a context.
    ///
    /// - Parameter isAlone: Whether the context is for these objects alone, so that they can be of a snapshot of their own.
    init(_ from: From<Object>, _ context: ObjectContext, isAlone: Bool) throws(StorageError) {
        self.from = from
        self.context = context
        rows = RowBatch(capacity: from.batchSize)
        _ = try from.objectPlan(context.model)
        try context.checkStoreOnly(from)
        seat = isAlone ? try StreamSeat.take(context.stack) : nil
        readsInPlace = !isAlone && context.sessions != nil
        if isAlone {
            source = .rows(SessionPool(readingFrom: context.stack, limit), nil)
        } else if context.committed(from) != nil {
            source = .ids(nil)
        } else if context.hasDetachedChanges {
            source = .objects(try context.fetchAll(from))
        } else {
            source = context.sessions.map { .rows($0, nil) } ?? .ids(nil)
        }
    }

    deinit { end() }

    /// Whether there is nothing more.
    private(set) var isAtEnd = false

    /// The threads of the stack.
    var workers: StackWorkers { context.stack.workers }

    /// Gives everything back; there are no more objects then.
    func end() {
        isAtEnd = true
        guard case .rows(let sessions, _) = source, seat != nil else { return source = .ended }
        // Cursors end before their session does.
        source = .ended
        if context.sessions === sessions { context.sessions = nil }
        sessions.end()
        // Whoever has no snapshot any more leaves room, though the program may keep the cursor.
        seat = nil
    }

    /// Reads what the next batch is made of.
    func read() throws(StorageError) {
        rows.clear()
        stores.removeAll(keepingCapacity: true)
        switch source {
        case .rows(let sessions, let known):
            let rows = if let known { known } else { try stream(sessions) }
            source = .rows(sessions, rows)
            try sessions.working { () throws(StorageError) in try fill(rows) }
        case .ids(nil):
            var committed = from
            committed.includesPendingChanges = nil
            let reader = ObjectContext(stack: context.stack, model: context.model)
            reader.limit = limit
            source = .ids(try reader.fetchIDs(committed)[...])
        case .ids, .objects, .ended: return
        }
    }

    private func stream(_ sessions: SessionPool) throws(StorageError) -> RowStream {
        let plan = try from.objectPlan(context.model), stores = try context.stores(for: plan.entity, from.configurations)
        return try RowStream(plan, stores, sessions, context.model.schema, batchSize: from.batchSize)
    }

    private func fill(_ stream: RowStream) throws(StorageError) {
        let schema = context.model.schema
        while !rows.isFull {
            try limit.check()
            let store = try stream.next { row, store in
                rows.append(copying: row, slots: schema[row.entity].slots.count)
                return store
            }
            guard let store else { return isAtEnd = true }
            stores.append(store)
        }
    }

    /// The objects of what was read, with what was to be loaded in advance. None does not mean that there are no more.
    func takeObjects() throws(StorageError) -> [Object] {
        var found: [Object] = []
        switch source {
        case .rows(let sessions, let stream):
            for (index, store) in stores.enumerated() {
                let object = context.object(of: rows.row(index), store, stream?.fields ?? .all)
                if let object = object as? Object { found.append(object) }
            }
            try using(sessions) { () throws(StorageError) in try context.prefetch(from.prefetched, of: found) }
            if seat != nil { try context.throwFailure() }
        case .ids(let left):
            let ids = left ?? []
            found = try context.existing(Array(ids.prefix(from.batchSize)))
            try context.prefetch(from.prefetched, of: found)
            source = .ids(ids.dropFirst(from.batchSize))
            isAtEnd = ids.count <= from.batchSize
        case .objects(let all):
            found = all
            isAtEnd = true
        case .ended: break
        }
        return found
    }

    /// Runs `body` so that what objects load comes from the snapshot that they are of.
    private func using(_ sessions: SessionPool, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        let former = context.sessions
        context.sessions = sessions
        defer { context.sessions = former }
        try body()
    }
}
