public import PolystoreObjects
public import PolystoreStorage

extension TransferEngine {
    /// Proposes indexes for requests to a store.
    ///
    /// - Parameters:
    ///   - store: An open store.
    ///   - requests: The requests.
    ///   - copy: A store of the same kind that does not exist yet, which is opened and receives a copy of all objects. Each index is tried in it: the requests
    ///     are measured, the copy is migrated, and they are measured again. Nil proposes all indexes that requests could use. The copy is
    ///     closed at the end and not removed.
    /// - Throws: `invalidPredicate` for a request that the schema of the store does not allow; `alreadyExists` if the copy exists;
    ///   `invalidConfiguration` if it is of another kind; the errors of a transfer; `cancelled`.
    public func adviseIndexes(
        for requests: [AdvisedRequest], of store: OpenStore, tryingIn copy: (any StorageInterface)? = nil
    ) throws(StorageError) -> IndexAdvice {
        guard let copy else { return try IndexAdvisor(requests, store.schema, limit).advice() }
        let opened = try OpenStore(opening: copy, OpenRequest(schema: store.schema))
        do throws(StorageError) {
            // A store that exists is somebody's, perhaps the measured one, and would be migrated.
            guard opened.state.wasCreated else {
                throw StorageError(
                    .alreadyExists, "the store in which indexes are to be tried exists already; name a place where there is none")
            }
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
    /// - Parameter copy: An empty store with the same schema, which is open.
    package func adviseIndexes(
        for requests: [AdvisedRequest], of store: OpenStore, tryingInOpen copy: OpenStore
    ) throws(StorageError) -> IndexAdvice {
        let advisor = try IndexAdvisor(requests, store.schema, limit)
        guard copy.storeType == store.storeType else {
            throw StorageError(
                .invalidConfiguration,
                "indexes of a store of the kind \(store.storeType) are tried in another one of this kind, and not in one of the kind "
                    + copy.storeType)
        }
        var options = TransferOptions()
        // They belong to the measured store, and are no objects.
        options.acceptedLosses = [TransferOptions.jointCommits]
        _ = try transfer(from: store, to: copy, options)
        return try advisor.advice(tryingIn: copy)
    }
}

extension DataStack {
    /// Proposes indexes for the requests that the stack has recorded since `recordsRequests` was set, and names those that none of them
    /// could use.
    ///
    /// ```swift
    /// stack.recordsRequests = true
    /// // … the work of a day
    /// let advice = try stack.adviseIndexes { _ in SQLiteStore(path: "/tmp/copy.db") }
    /// print(advice)
    /// ```
    /// - Parameters:
    ///   - limit: A limit that ends the work.
    ///   - makeCopy: A closure that returns a store of the same kind that does not exist yet for a store of the stack, in which indexes are tried (see
    ///     ``PolystoreTransfer/TransferEngine/adviseIndexes(for:of:tryingIn:)``). Nil, also for single stores, proposes all indexes that
    ///     requests could use.
    /// - Returns: The advice for all stores. Requests that read several stores are considered in each of them.
    /// - Throws: The errors of copying and migrating.
    public func adviseIndexes(
        limit: WorkLimit? = nil, tryingIn makeCopy: ((any StorageInterface) throws -> (any StorageInterface)?)? = nil
    ) throws -> IndexAdvice {
        let statistics = requestStatistics()
        var advice = IndexAdvice()
        for (_, entry) in core.entries {
            let requests = statistics.compactMap { item -> AdvisedRequest? in
                guard let request = item.slowest, let entity = schema.index(of: request.entity), entry.holds(entity),
                    (try? request.plan(in: schema)) != nil
                else { return nil }
                return AdvisedRequest(request, shape: item.shape, count: item.count, duration: item.duration)
            }
            if requests.isEmpty { continue }
            let found = try TransferEngine(limit: limit).adviseIndexes(
                for: requests, of: entry.store, tryingIn: try makeCopy?(entry.store.storage))
            advice.proposals += found.proposals
            advice.rejected += found.rejected
            advice.unused += found.unused
        }
        return advice
    }
}
