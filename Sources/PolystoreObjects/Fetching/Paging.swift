public import PolystoreStorage

extension FetchSource {
    /// Returns a page of a request: as many objects as its limit, 100 without one, after a cursor.
    ///
    /// A page of the limit 0 is empty and has no next one.
    ///
    /// - Throws: `tokenExpired` for a cursor that was modified, that belongs to another request or store, or that was signed with another
    ///   secret: start again from the first page. `invalidPredicate` for a request that does not fit the model.
    public func fetchPage<Object: ManagedObject>(
        _ from: From<Object>, after cursor: PageCursor? = nil
    ) throws(StorageError) -> Page<Object> {
        try reporting { () throws(StorageError) in try _fetchContext.fetchPage(from, after: cursor) }
    }
}

extension ObjectContext {
    func fetchPage<Object: ManagedObject>(_ from: From<Object>, after cursor: PageCursor?) throws(StorageError) -> Page<Object> {
        try measured(.page, RequestShape(from, model), rows: \.objects.count) { () throws(StorageError) in try page(from, after: cursor) }
    }

    private func page<Object: ManagedObject>(_ from: From<Object>, after cursor: PageCursor?) throws(StorageError) -> Page<Object> {
        let plan = try from.plan(model), size = from.limit ?? 100
        if size == 0 { return Page(objects: [], next: nil) }
        if from.offset > 0 {
            throw StorageError(.invalidPredicate, "a page request cannot have an offset; continue with the cursor of the previous page")
        }
        // A cursor is valid for pages of another size.
        var described = from
        described.limit = nil
        let coder = PageCoder(
            secret: stack.pageSecret, request: described.debugDescription, types: plan.sort.map(\.expression.type) + [.int64, .uuid])
        var request = from
        request.sort = from.sort + [OrderTerm(.object)]
        if let cursor {
            guard let values = coder.values(cursor) else {
                throw StorageError(
                    .tokenExpired,
                    "the page cursor was altered, belongs to another request, or was signed with another secret; start again from the first page",
                    details: .init(entity: model.schema[plan.entity].name))
            }
            let keys = try sortKeys(from, plan) + [OrderTerm(.object)]
            let stores = try stack.stores(for: plan.entity, from.configurations)
            let ties = stores.count == 1 ? [] : try twins(of: values, behind: stores, plan)
            request = request.where(Where(Self.behind(keys, values, ties)))
        }
        // One object more shows whether there is another page.
        request.limit = size == .max ? size : size + 1
        try checkStoreOnly(request)
        let page = request
        if let committed = committed(from) {
            let found = try committed.placed(page, size - 1, plan)
            let ids = found.objects.prefix(size).map { ObjectID<Object>(committed.objectKey(of: $0)) }
            let objects = try existing(ids)
            try prefetch(from.prefetched, of: objects)
            return Page(objects: objects, next: found.objects.count > size ? found.place.map(coder.cursor) : nil)
        }
        func found() throws(StorageError) -> Page<Object> {
            let found = try placed(page, size - 1, plan)
            let objects = found.objects.prefix(size).compactMap { $0 as? Object }
            try prefetch(from.prefetched, of: objects)
            return Page(objects: objects, next: found.objects.count > size ? found.place.map(coder.cursor) : nil)
        }
        return from.prefetched.isEmpty ? try found() : try inOneSnapshot(found)
    }

    /// Returns the objects of a request, and the location of the one at a position in the order: the values of its sort keys, its key and its
    /// store at the time of sorting.
    private func placed<Object: ManagedObject>(
        _ request: From<Object>, _ position: Int, _ sorted: FetchPlan
    ) throws(StorageError) -> (objects: [ManagedObject], place: [Value]?) {
        var plan = try request.objectPlan(model)
        // Any attribute may be a sort key.
        if !sorted.sort.isEmpty { plan.fields = .all }
        let stores = try stores(for: plan.entity, request.configurations)
        if hasDetachedChanges {
            let rows = try PendingFetch.places(plan, stores, self)
            let last = rows.indices.contains(position) ? rows[position] : nil
            return (rows.map(\.object), last.map { place($0.keys.prefix(sorted.sort.count), $0.object._key, $0.object._store) })
        }
        return try withSessions { sessions throws(StorageError) in
            let rows = try RowStream(plan, stores, sessions, model.schema)
            var objects: [ManagedObject] = [], place: [Value]?
            while let object = try rows.nextRelated({ row, store, related throws(StorageError) in
                if objects.count == position {
                    let order = RowOrder(sorted.bound(to: stack.storeID(Int(store)), in: model.schema).sort, schema: model.schema)
                    let values = order.values(row, related)
                    try related.throwFailure()
                    do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
                    place = self.place(values[...], row.key, store)
                }
                return self.object(of: row, store, rows.fields)
            }) {
                objects.append(object)
            }
            return (objects, place)
        }
    }

    private func place(_ keys: ArraySlice<Value>, _ key: Int64, _ store: Int32) -> [Value] {
        keys + [.int(key), .uuid(stack.storeID(Int(store)))]
    }

    /// Returns the sort keys of a request that its plan has kept. Both omit keys without an effect.
    private func sortKeys<Object: ManagedObject>(_ from: From<Object>, _ plan: FetchPlan) throws(StorageError) -> [OrderTerm] {
        var kept: [OrderTerm] = [], position = 0
        for key in from.sort where position < plan.sort.count {
            do throws(QueryError) {
                if try key.expression.checked(in: model.schema, plan.entity) == plan.sort[position].expression {
                    kept.append(key)
                    position += 1
                }
            } catch {
                throw StorageError(error)
            }
        }
        return kept
    }

    /// Returns the objects with the same key as the last of a page, in the stores that follow its own.
    private func twins(of place: [Value], behind stores: [Int], _ plan: FetchPlan) throws(StorageError) -> [Value] {
        guard place.count > 1, case .int(let key) = place[place.count - 2], case .uuid(let id) = place[place.count - 1],
            let last = stack.position(of: id)
        else {
            throw StorageError(
                .tokenExpired, "the page cursor belongs to a store that is not part of this stack; start again from the first page",
                details: .init(entity: model.schema[plan.entity].name))
        }
        let root = model.schema.entities[model.schema[plan.entity].root].name
        return stores.filter { $0 > last }.map { ObjectKey(store: stack.storeID($0), root: root, key: key).constant }
    }

    /// Returns the condition for objects after a location: equal in the first keys and after it in the next one.
    ///
    /// - Parameter twins: The objects that are equal in all keys and follow by their stores.
    private static func behind(_ keys: [OrderTerm], _ values: [Value], _ twins: [Value]) -> QueryPredicate {
        var alternatives: [QueryPredicate] = []
        for (position, key) in keys.enumerated() {
            var parts: [QueryPredicate] = zip(keys, values).prefix(position).map { .compare($0.expression, .equal, .value($1)) }
            switch (key.ascending, values[position]) {
            case (true, .null): parts.append(.compare(key.expression, .notEqual, .value(.null)))
            case (true, let value): parts.append(.compare(key.expression, .greater, .value(value)))
            case (false, .null): continue
            case (false, let value):
                parts.append(.or([.compare(key.expression, .less, .value(value)), .compare(key.expression, .equal, .value(.null))]))
            }
            alternatives.append(.and(parts))
        }
        if !twins.isEmpty {
            let equal = zip(keys, values).dropLast().map { QueryPredicate.compare($0.expression, .equal, .value($1)) }
            alternatives.append(.and(equal + [.isIn(.path(.object), twins)]))
        }
        return .or(alternatives)
    }
}
