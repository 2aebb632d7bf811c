internal import PolystoreStorage

/// The objects of a request, batch by batch.
///
/// A batch is read in two steps: `read` waits for the store and touches no object, so that it can run on another thread; `takeObjects`
/// creates the objects in the isolation of their context.
final class ObjectBatches<Object: ManagedObject> {
    private enum Source {
        /// Rows of one snapshot.
        case rows(SessionPool, RowStream?)
        /// Objects that are loaded by their ids, because objects of a context that follows commits must not be older than the context.
        case ids(ArraySlice<ObjectID<Object>>?)
        /// Objects that had to be fetched together, because pending changes in memory determine the result.
        case objects([Object])
        case ended
    }

    private static var mostBytes: Int { 4 << 20 }

    private let from: From<Object>
    private let context: ObjectContext
    /// The time limit of reading, which its sessions share.
    let limit = WorkLimit()
    private var source: Source
    /// The permit for a snapshot outside of a transaction.
    private var seat: StreamSeat?
    /// Whether rows come from the session of a transaction or read, so that they must be read by the caller and not on a thread of the
    /// stack.
    let readsInPlace: Bool
    /// The rows that were read. A batch has fewer objects if their rows are long.
    private let rows: RowBatch
    private var stores: [Int32] = []
    /// The measurement of the request, and the number of objects so far.
    private let measured: MeasuredRequest?
    private var count = 0

    /// Prepares the objects of a request in a context.
    ///
    /// - Parameter isAlone: Whether the context is used only for these objects, so that they can have their own snapshot.
    init(_ from: From<Object>, _ context: ObjectContext, isAlone: Bool) throws(StorageError) {
        self.from = from
        self.context = context
        rows = RowBatch(capacity: from.batchSize)
        measured = MeasuredRequest(context, .cursor, RequestShape(from, context.model))
        _ = try from.objectPlan(context.model)
        try context.checkStoreOnly(from)
        seat = isAlone ? try StreamSeat.take(context.stack, limit) : nil
        readsInPlace = !isAlone && context.sessions != nil
        if isAlone {
            source = .rows(SessionPool(readingFrom: context.stack, limit), nil)
        } else if context.committed(from) != nil {
            source = .ids(nil)
        } else if context.hasDetachedChanges {
            source = .objects(try MeasuredRequest.timed(measured) { () throws(StorageError) in try context.fetchAll(from) })
        } else {
            source = context.sessions.map { .rows($0, nil) } ?? .ids(nil)
        }
    }

    deinit { end() }

    /// Whether there are no more objects.
    private(set) var isAtEnd = false

    /// The threads of the stack.
    var workers: StackWorkers { context.stack.workers }

    /// Releases all resources. There are no more objects then.
    func end() {
        isAtEnd = true
        measured?.end(count, nil)
        guard case .rows(let sessions, _) = source, seat != nil else { return source = .ended }
        // Cursors must end before their session.
        source = .ended
        if context.sessions === sessions { context.sessions = nil }
        sessions.end()
        // The permit is returned with the snapshot, even if the program retains the cursor.
        seat = nil
    }

    /// Reads the data of the next batch.
    func read() throws(StorageError) { try timed(readBatch) }

    /// Runs a part of the request, which an error ends.
    private func timed<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        guard let measured else { return try body() }
        do throws(StorageError) { return try measured.timed(body) } catch {
            measured.end(count, error)
            throw error
        }
    }

    private func readBatch() throws(StorageError) {
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
            reader.isMeasured = true
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
        while !rows.isFull, rows.copiedBytes < Self.mostBytes {
            try limit.check()
            let store = try stream.next { row, store in
                rows.append(copying: row, slots: schema[row.entity].slots.count)
                return store
            }
            guard let store else { return isAtEnd = true }
            stores.append(store)
        }
    }

    /// Returns the objects of the read data, with prefetched relationships. An empty result does not mean that there are no more objects.
    func takeObjects() throws(StorageError) -> [Object] {
        let found = try timed(createObjects)
        count += found.count
        return found
    }

    private func createObjects() throws(StorageError) -> [Object] {
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

    /// Runs `body` with the objects' snapshot as the source of everything that they load.
    private func using(_ sessions: SessionPool, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        let former = context.sessions
        context.sessions = sessions
        defer { context.sessions = former }
        try body()
    }
}
