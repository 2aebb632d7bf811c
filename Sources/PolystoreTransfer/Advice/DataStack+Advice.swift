public import PolystoreObjects
public import PolystoreStorage

extension TransferEngine {
    /// Proposes indexes for requests to a store.
    ///
    /// - Parameters:
    ///   - store: An open store.
    ///   - requests: The requests.
    ///   - copy: A store of the same kind that does not exist yet. It is created and receives a copy of all objects; changes that other
    ///     stores may keep for the store because of joint commits are not in it. Each index is tried in it: the requests are measured, the
    ///     index is created, and they are measured again. Nil proposes all indexes that requests could use. The copy is closed at the end
    ///     and not removed.
    /// - Throws: `invalidPredicate` for a request that the schema of the store does not allow; `alreadyExists` if the copy existed before;
    ///   `invalidConfiguration` if it is of another kind; the errors of a transfer; `cancelled`.
    public func adviseIndexes(
        for requests: [AdvisedRequest], of store: OpenStore, tryingIn copy: (any StorageInterface)? = nil
    ) throws(StorageError) -> IndexAdvice {
        guard let copy else { return try IndexAdvisor(requests, store.schema, to: store, limit).advice() }
        try Self.check(kind: type(of: copy).storeType, of: store)
        let opened: OpenStore
        do throws(StorageError) {
            opened = try OpenStore(opening: copy, OpenRequest(schema: store.schema))
        } catch {
            // Errors that only a store that exists can have.
            let codes: [StorageError.Code] = [.schemaMismatch, .incompleteCopy, .storeMoved, .alreadyExists]
            throw codes.contains(error.code) ? Self.copyExists(error) : error
        }
        do throws(StorageError) {
            let advice = try adviseIndexes(for: requests, of: store, tryingInOpen: opened)
            try opened.close()
            return advice
        } catch {
            try? opened.close()
            throw error
        }
    }

    /// Proposes indexes that were tried in a copy of a store.
    ///
    /// - Parameter copy: A store with the same schema, which was created when it was opened.
    package func adviseIndexes(
        for requests: [AdvisedRequest], of store: OpenStore, tryingInOpen copy: OpenStore
    ) throws(StorageError) -> IndexAdvice {
        try Self.check(kind: copy.storeType, of: store)
        // It may be the store of a program, even that of the requests, and would be migrated.
        guard copy.state.wasCreated else { throw Self.copyExists() }
        let advisor = try IndexAdvisor(requests, store.schema, to: store, limit)
        var options = TransferOptions()
        options.acceptedLosses = [TransferOptions.jointCommits]
        _ = try transfer(from: store, to: copy, options)
        return try advisor.advice(tryingIn: copy)
    }

    private static func copyExists(_ cause: StorageError? = nil) -> StorageError {
        StorageError(
            .alreadyExists,
            "indexes are not tried in a store that existed before, and nothing was changed in it; name a place where there is none, another "
                + "one for each store", cause: cause)
    }

    /// Refuses a copy in a store of another kind, whose times would say nothing about the store.
    private static func check(kind: String, of store: OpenStore) throws(StorageError) {
        if kind == store.storeType { return }
        throw StorageError(
            .invalidConfiguration,
            "indexes of a store of the kind \(store.storeType) are tried in another one of this kind, and not in one of the kind \(kind)")
    }
}

extension DataStack {
    /// Proposes indexes for the requests that the stack has recorded since `recordsRequests` was set, and names those whose first property
    /// none of them reads or compares.
    ///
    /// ```swift
    /// stack.recordsRequests = true
    /// // … the work of a day
    /// var copies: [SQLiteStore] = []
    /// let advice = try stack.adviseIndexes { _ in
    ///     let copy = SQLiteStore(path: "/tmp/advice-\(copies.count).db")
    ///     copies.append(copy)
    ///     return copy
    /// }
    /// for copy in copies { try copy.erase() }
    /// print(advice)
    /// ```
    /// Only requests for objects and for values are considered. Statements in SQL, lists and monitors, lookups by id, loads of relationships,
    /// and the conditions of `updateAll` and `deleteAll` are not, and they may use an index that the advice calls unused. If the statistics
    /// lack a request, because it was too large or there were too many forms, no index is called so.
    ///
    /// An index of a property with values of more than 1,024 bytes is not proposed: no store could have it.
    ///
    /// - Parameters:
    ///   - limit: A limit that ends the work.
    ///   - makeCopy: A closure that returns a store of the same kind for a store of the stack, which does not exist yet, another one for
    ///     each, and in which indexes are tried (see ``PolystoreTransfer/TransferEngine/adviseIndexes(for:of:tryingIn:)``). Nil, also for single stores, proposes all
    ///     indexes that requests could use.
    /// - Returns: The advice for all stores. Requests that read several stores are considered in each of them; an index that helps in one of
    ///   them is proposed.
    /// - Throws: `alreadyExists` for a copy that existed before; the errors of copying and migrating.
    public func adviseIndexes(
        limit: WorkLimit? = nil, tryingIn makeCopy: ((any StorageInterface) throws -> (any StorageInterface)?)? = nil
    ) throws -> IndexAdvice {
        let statistics = requestStatistics(), recorded = statistics.compactMap { AdvisedRequest($0) }
        var found: [IndexAdvice] = []
        for (_, entry) in core.entries {
            let requests = recorded.filter { request in
                guard let entity = schema.index(of: request.request.fetch.entity), entry.holds(entity) else { return false }
                return request.isValid(in: entry.store.schema)
            }
            if requests.isEmpty { continue }
            found.append(
                try TransferEngine(limit: limit).adviseIndexes(
                    for: requests, of: entry.store, tryingIn: try makeCopy?(entry.store.storage)))
        }
        var advice = IndexAdvice(merging: found)
        // A request to one store may use an index of an entity that is in another one too.
        if !lacksRequests { advice.unused = try IndexAdvisor(recorded.filter { $0.isValid(in: schema) }, schema).unused }
        return advice
    }
}

extension AdvisedRequest {
    /// Creates the slowest request of a form; nil if there is none.
    fileprivate init?(_ statistics: RequestStatistics) {
        guard var request = statistics.slowest else { return nil }
        if case .objects(var fetch) = request {
            switch statistics.kind {
            // All objects are counted, whatever their order.
            case .count: (fetch.order, fetch.limit, fetch.offset) = ([], nil, 0)
            case .page: fetch.limit = fetch.limit ?? 100
            case .fetch, .cursor, .ids, .lookup, .relationship, .values, .sql, .execute: break
            }
            request = .objects(fetch)
        }
        self.init(request, shape: statistics.shape, count: statistics.count, duration: statistics.duration)
    }

    fileprivate func isValid(in schema: Schema) -> Bool { (try? plan(in: schema)) != nil }
}
