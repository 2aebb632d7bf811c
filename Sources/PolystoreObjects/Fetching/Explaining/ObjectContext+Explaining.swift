public import PolystoreStorage

extension From {
    /// Returns the request, restricted to evaluation in the stores: a part that a store cannot evaluate exactly is the error `unsupported`,
    /// which names the part.
    public func storeOnly() -> From {
        var copy = self
        copy.isStoreOnly = true
        return copy
    }
}

extension ObjectContext {
    /// Throws if a request that is restricted to evaluation in the stores contains another part.
    func checkStoreOnly<Object: ManagedObject>(_ from: From<Object>, _ query: AttributesQuery<Object>? = nil) throws(StorageError) {
        guard from.isStoreOnly else { return }
        for store in try explain(from, query).stores {
            guard let part = store.parts.first(where: { $0.pushdown != .exact }) else { continue }
            throw StorageError(
                .unsupported, "the \(store.storeType) store cannot evaluate \(part.text); omit storeOnly(), or change the request",
                details: .init(entity: model.schema.entities[try from.entity(model)].name))
        }
    }

    /// Returns the plan of a request, for objects or for the values of a query.
    func explain<Object: ManagedObject>(_ from: From<Object>, _ query: AttributesQuery<Object>?) throws(StorageError) -> Explanation {
        let places = try stack.stores(for: try from.entity(model), from.configurations)
        var stores: [Explanation.Store] = []
        for place in places { stores.append(try explain(from, query, in: place)) }
        return Explanation(stores: stores, answer: nil)
    }

    /// Returns the plan together with measurements. The request is executed, and its results are discarded batch by batch.
    func analyze<Object: ManagedObject>(_ from: From<Object>, _ query: AttributesQuery<Object>?) throws(StorageError) -> Explanation {
        let pool = SessionPool(readingFrom: stack, isMeasured: true)
        sessions = pool
        defer {
            pool.end()
            sessions = nil
        }
        let start = ContinuousClock.now
        let count = if let query { try queryAttributes(query).count } else { try countByReading(from) }
        let answer = Explanation.Answer(count: count, duration: start.duration(to: .now))
        // The counters are read before the calls below change them.
        let work = pool.measured.mapValues { Explanation.Work(requests: $0.requests, rowsRead: $0.rowsRead) }
        var stores: [Explanation.Store] = []
        for place in try stack.stores(for: try from.entity(model), from.configurations) {
            stores.append(try explain(from, query, in: place, work[place] ?? Explanation.Work(requests: 0, rowsRead: 0)))
        }
        return Explanation(stores: stores, answer: answer)
    }

    private func countByReading<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        let cursor = try ObjectCursor(from, self)
        var count = 0
        while try cursor.next() != nil { count += 1 }
        return count
    }

    private func explain<Object: ManagedObject>(
        _ from: From<Object>, _ query: AttributesQuery<Object>?, in place: Int, _ work: Explanation.Work? = nil
    ) throws(StorageError) -> Explanation.Store {
        let store = try stack.store(place), schema = model.schema
        let values = try query.map { query throws(StorageError) in try query.plan(model) }
        let plan = if let values { values.fetch } else { try from.plan(model) }
        let name = schema.entities[plan.entity].name
        // Groups are sorted after grouping, when there are few rows.
        let keys = if case .groups? = values?.kind { [] as [OrderTerm] } else { from.sort }
        let all: [QueryPredicate] = from.predicate.map { if case .and(let parts) = $0.node { parts } else { [$0] } } ?? []
        return try withReader(place) { reader throws(StorageError) in
            var conditions: [Explanation.Part] = [], order: [Explanation.Part] = [], outputs: [Explanation.Part] = []
            do throws(QueryError) {
                for condition in all {
                    let part = try ObjectRequest(name, where: condition).plan(in: schema)
                    conditions.append(Explanation.Part(text: condition.description, pushdown: reader.pushdown(of: part)))
                }
                for key in keys {
                    let part = try ObjectRequest(name, orderBy: [key]).plan(in: schema)
                    order.append(Explanation.Part(text: key.text, pushdown: reader.pushdown(of: part)))
                }
                for output in query?.outputs.map(\.output) ?? [] {
                    let request = QueryRequest(ObjectRequest(name), outputs: [output], groupBy: query?.keys ?? [])
                    let part = try request.plan(in: schema)
                    outputs.append(Explanation.Part(text: output.alias, pushdown: reader.pushdown(of: part)))
                }
            } catch {
                throw StorageError(error)
            }
            return Explanation.Store(
                storeType: store.storeType, configuration: store.configuration, conditions: conditions, order: order,
                values: outputs, plan: try work == nil ? reader.explanation(of: plan) : reader.measuredExplanation(of: plan),
                work: work)
        }
    }
}

extension DataStack {
    /// Returns the plan of a request: the part that each store evaluates, its engine's plan, and the part for the layer above.
    ///
    /// - Parameters:
    ///   - from: The request.
    ///   - analyze: Whether the request is also executed, to count its operations. Engines that measure their plans execute it once more.
    /// - Returns: The plan of each store, and with `analyze` the numbers of operations and rows.
    /// - Throws: Any error of a fetch of the request.
    public func explain<Object: ManagedObject>(_ from: From<Object>, analyze: Bool = false) throws(StorageError) -> Explanation {
        try explain(from, nil, analyze)
    }

    /// Returns the plan of a query for rows of values.
    public func explain<Object: ManagedObject>(_ query: AttributesQuery<Object>, analyze: Bool = false) throws(StorageError) -> Explanation
    {
        try explain(query.from, query, analyze)
    }

    /// Returns the plan of a query for one value.
    public func explain<Object: ManagedObject, Result: AttributeValue>(
        _ query: ValueQuery<Object, Result>, analyze: Bool = false
    ) throws(StorageError) -> Explanation { try explain(query.query, analyze: analyze) }

    /// Returns the plan of a query for tuples.
    public func explain<Object: ManagedObject, each Value: AttributeValue>(
        _ query: TupleQuery<Object, repeat each Value>, analyze: Bool = false
    ) throws(StorageError) -> Explanation { try explain(query.query, analyze: analyze) }

    private func explain<Object: ManagedObject>(
        _ from: From<Object>, _ query: AttributesQuery<Object>?, _ analyze: Bool
    ) throws(StorageError) -> Explanation {
        try reporting { () throws(StorageError) in
            try core.working { () throws(StorageError) in
                let context = ObjectContext(stack: core, model: core.model)
                return try analyze ? context.analyze(from, query) : context.explain(from, query)
            }
        }
    }
}
