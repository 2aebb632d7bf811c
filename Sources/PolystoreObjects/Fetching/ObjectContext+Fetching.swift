internal import PolystoreFoundation
internal import PolystoreStorage

extension ObjectContext {
    /// Returns the objects of a request, in its order.
    func fetchAll<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [Object] {
        try measured(.fetch, RequestShape(from, model), rows: \.count) { () throws(StorageError) in try allObjects(from) }
    }

    private func allObjects<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [Object] {
        try checkStoreOnly(from)
        if let committed = committed(from) {
            let objects = try existing(try committed.fetchIDs(from))
            try prefetch(from.prefetched, of: objects)
            return objects
        }
        if from.prefetched.isEmpty { return try fetchPlain(from) }
        return try inOneSnapshot { () throws(StorageError) in
            let objects = try fetchPlain(from)
            try prefetch(from.prefetched, of: objects)
            return objects
        }
    }

    /// Runs `body` with all reads in one snapshot: the transaction's own, or a separate one.
    package func inOneSnapshot<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let isAlone = sessions == nil && tracker == nil
        if isAlone { sessions = SessionPool(readingFrom: stack, limit) }
        defer {
            if isAlone {
                sessions?.end()
                sessions = nil
            }
        }
        return try body()
    }

    /// Runs `body` with its reads of several stores in snapshots after the same commits.
    func inOneSnapshot<R>(of stores: [Int], _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        if stores.count < 2 || tracker != nil { return try body() }
        return try inOneSnapshot { () throws(StorageError) in
            try sessions?.open(Set(stores))
            return try body()
        }
    }

    /// The sessions of the transaction or of the current snapshot.
    package var heldSessions: SessionPool {
        get throws(StorageError) {
            guard let sessions else { throw SessionPool.ended }
            return sessions
        }
    }

    /// Runs `body` with the sessions of the transaction, or with separate ones.
    func withSessions<R>(_ body: (SessionPool) throws(StorageError) -> R) throws(StorageError) -> R {
        if let sessions { return try sessions.working(unless: \.precedesWork) { () throws(StorageError) in try body(sessions) } }
        let own = SessionPool(readingFrom: stack, limit)
        defer { own.end() }
        return try body(own)
    }

    /// Returns the context that answers if the changes of this one must be excluded; nil if they are included, or there are none.
    func committed<Object: ManagedObject>(_ from: From<Object>) -> ObjectContext? {
        from.includesPendingChanges == false && tracker != nil ? committed : nil
    }

    /// A separate context of the newest committed state.
    var committed: ObjectContext {
        let context = ObjectContext(stack: stack, model: model)
        context.limit = limit
        context.isMeasured = isMeasured
        return context
    }

    /// Runs a fetch with a time limit.
    func within<R>(_ timeout: Duration?, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        limit = timeout.map { WorkLimit(reading: $0) }
        defer { limit = nil }
        let result = try body()
        try limit?.check()
        return result
    }

    private func fetchPlain<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [Object] {
        let plan = try from.objectPlan(model)
        let stores = try stores(for: plan.entity, from.configurations)
        if stores.count == 1 { return typed(try fetch(plan, stores[0])) }
        if hasDetachedChanges { return typed(try PendingFetch.merge(plan, stores, self)) }
        return typed(try merge(plan, stores))
    }

    /// Returns the objects of a plan from several stores, in its order.
    private func merge(_ plan: FetchPlan, _ stores: [Int]) throws(StorageError) -> [ManagedObject] {
        try withSessions { sessions throws(StorageError) in
            let rows = try RowStream(plan, stores, sessions, model.schema)
            var found: [ManagedObject] = []
            while let object = try rows.next({ row, store in self.object(of: row, store, rows.fields) }) { found.append(object) }
            return found
        }
    }

    private func fetch(_ plan: FetchPlan, _ store: Int) throws(StorageError) -> [ManagedObject] {
        try withReader(store) { reader throws(StorageError) in try objects(for: plan, store: store, reader) }
    }

    /// Returns the objects as their class. The plan returns no others, so no individual casts are needed.
    private func typed<Object: ManagedObject>(_ objects: [ManagedObject]) -> [Object] {
        if Object.self == ManagedObject.self || objects.isEmpty { return objects.compactMap { $0 as? Object } }
        guard objects[0] is Object else { return objects.compactMap { $0 as? Object } }
        // Arrays of class references have the same layout: a copy element by element would cost two retains per object.
        return unsafeBitCast(objects, to: [Object].self)
    }

    /// Returns the number of objects of a request.
    func fetchCount<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        try measured(.count, RequestShape(from, model), rows: { _ in 1 }, { () throws(StorageError) in try count(from) })
    }

    private func count<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        try checkStoreOnly(from)
        if let committed = committed(from) { return try committed.fetchCount(from) }
        if hasDetachedChanges { return try fetchAll(from).count }
        let plan = try from.plan(model), (limit, offset) = (plan.limit, plan.offset)
        let stores = try stores(for: plan.entity, from.configurations)
        let total = try inOneSnapshot(of: stores) { () throws(StorageError) in
            var total = 0
            for store in stores { if case .int(let count)? = try values(.count(plan), store).first?.first { total += Int(count) } }
            return total
        }
        return min(max(total - offset, 0), limit ?? .max)
    }

    /// Returns the keys of the objects of a request, in its order.
    func fetchIDs<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [ObjectID<Object>] {
        try measured(.ids, RequestShape(from, model), rows: \.count) { () throws(StorageError) in try ids(from) }
    }

    private func ids<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [ObjectID<Object>] {
        try checkStoreOnly(from)
        if let committed = committed(from) { return try committed.fetchIDs(from) }
        var plan = try from.plan(model)
        let stores = try stores(for: plan.entity, from.configurations)
        if hasDetachedChanges { return try fetchAll(from).map { ObjectID(objectKey(of: $0)) } }
        // Several answers are merged in order by their values.
        if stores.count == 1 { plan.fields = .keysOnly }
        let root = model.schema.entities[model.schema[plan.entity].root].name
        return try withSessions { sessions throws(StorageError) in
            let rows = try RowStream(plan, stores, sessions, model.schema, batchSize: 1024)
            var found: [ObjectID<Object>] = [], ids: [Int32: UUID] = [:]
            while let (store, key) = try rows.next({ row, store in (store, row.key) }) {
                let id = ids[store] ?? stack.storeID(Int(store))
                ids[store] = id
                found.append(ObjectID(ObjectKey(store: id, root: root, key: key)))
            }
            return found
        }
    }

    /// Returns the keys of the rows of a plan by store. A limit applies to the rows of all stores.
    func keys(_ plan: FetchPlan, in stores: [Int]) throws(StorageError) -> [Int: [Int64]] {
        try withSessions { sessions throws(StorageError) in
            let rows = try RowStream(plan, stores, sessions, model.schema, batchSize: 1024)
            var found: [Int: [Int64]] = [:]
            while let (store, key) = try rows.next({ row, store in (Int(store), row.key) }) { found[store, default: []].append(key) }
            return found
        }
    }

    /// Returns the object with an id; nil if it no longer exists or is of another class.
    package func existing<Object: ManagedObject>(_ id: ObjectID<Object>) throws(StorageError) -> Object? {
        try measured(.lookup, RequestShape([id]), rows: { $0 == nil ? 0 : 1 }) { () throws(StorageError) -> Object? in
            let (store, root) = try place(of: id.key)
            try checkRead(store)
            return try object(root, id.key.key, store) as? Object
        }
    }

    /// Returns the objects with ids, in their order, without those that no longer exist.
    package func existing<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> [Object] {
        try measured(.lookup, RequestShape(ids), rows: \.count) { () throws(StorageError) in try existingObjects(ids) }
    }

    private func existingObjects<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> [Object] {
        var places: [KeyBlock.Place] = [], keys: [KeyBlock.Place: [Int64]] = [:]
        for id in ids {
            let (store, root) = try place(of: id.key)
            try checkRead(store)
            let place = KeyBlock.Place(store: store, root: root)
            places.append(place)
            keys[place, default: []].append(id.key.key)
        }
        var found: [KeyBlock.Place: [Int64: ManagedObject]] = [:]
        for (place, keys) in keys {
            let objects = try objects(place.root, keys, place.store)
            found[place] = Dictionary(objects.map { ($0._key, $0) }) { first, _ in first }
        }
        return zip(ids, places).compactMap { id, place in found[place]?[id.key.key] as? Object }
    }

    func values(_ plan: QueryPlan, _ store: Int) throws(StorageError) -> [[Value]] {
        try withReader(store) { reader throws(StorageError) in try reader.values(for: plan) }
    }
}
