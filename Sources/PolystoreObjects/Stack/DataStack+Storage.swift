public import PolystoreFoundation
public import PolystoreStorage

/// The result of adding a store.
public typealias SetupResult<Storage: StorageInterface> = Result<Storage, StorageError>

extension DataStack {
    /// Opens a store and adds it to the stack.
    ///
    /// A store that does not exist is created. Its configuration determines which entities it holds: nil stands for the configuration with
    /// all entities. A store with another version of the model is migrated only with the option `allowSynchronousLightweightMigration` or
    /// `recreateStoreOnModelMismatch`, and only by steps that can be inferred from the schemas.
    /// - Throws: `schemaMismatch`, which names the first difference, if the store has another version of the model; any error of opening
    ///   and migrating.
    @discardableResult
    public func addStorageAndWait<Storage: StorageInterface>(_ storage: Storage) throws(StorageError) -> Storage {
        try reporting { () throws(StorageError) in try add(storage, .synchronous) }
        return storage
    }

    /// Opens a store of a kind at its default location and adds it.
    @discardableResult
    public func addStorageAndWait<Storage: DefaultPlaceStorage>(_ type: Storage.Type) throws(StorageError) -> Storage {
        try addStorageAndWait(type.init())
    }

    /// Opens a store on a thread of the stack and adds it. Migrates it if it has another version of the model.
    ///
    /// The cancellation of the task cancels the migration: the current step is undone, and completed steps are kept.
    /// - Parameters:
    ///   - storage: The store.
    ///   - progress: The progress of the migration. Its handlers and sequences end with the migration.
    /// - Throws: `noMigrationPath` and `dataLossRefused` before anything is changed; `validationFailed` and `uniqueConstraintViolated` for
    ///   objects that violate rules of a new version, in which case the store keeps the version before it; any error of opening.
    @discardableResult
    public func addStorage<Storage: StorageInterface>(
        _ storage: Storage, progress: MigrationProgress = MigrationProgress()
    ) async throws -> Storage {
        try await withTaskCancellationHandler {
            try await core.workers.openings.run(WorkLimit()) { refusal, _ in
                try reportingOurs(functionName: "addStorage(_:progress:)") {
                    if let refusal { throw refusal }
                    try self.add(storage, .all(progress))
                }
            }
        } onCancel: {
            progress.cancel()
        }
        return storage
    }

    /// Opens a store in the background and adds it. Migrates it if it has another version of the model.
    ///
    /// - Parameters:
    ///   - storage: The store.
    ///   - queue: The queue on which the completion is called; nil for the stack's own queue.
    ///   - completion: A closure that is called with the store, or with the error if it was not added.
    /// - Returns: The progress of a migration; nil if no migration is required.
    @discardableResult
    public func addStorage<Storage: StorageInterface>(
        _ storage: Storage, on queue: DispatchQueue? = nil, completion: @escaping @Sendable (SetupResult<Storage>) -> Void
    ) -> MigrationProgress? {
        // Errors of the store are passed to the completion.
        let steps = (try? requiredMigrations(for: storage)) ?? []
        let progress = steps.isEmpty ? nil : MigrationProgress(steps: steps.count)
        core.open(on: queue, completion) { () throws(StorageError) in
            try reporting { () throws(StorageError) in try self.add(storage, .all(progress ?? MigrationProgress())) }
            return storage
        }
        return progress
    }

    /// Removes a store from the stack and closes it. Its objects can no longer be loaded.
    ///
    /// If the commit of a transaction has begun, it ends before the store is closed. A transaction that has not reached its commit fails with
    /// `storeClosed`, and none of its changes are stored.
    /// - Throws: `notFound` if the store is not in the stack.
    public func removeStorage(_ storage: any StorageInterface) throws(StorageError) {
        try reporting { () throws(StorageError) in
            try core.checkReentrancy()
            guard let position = core.entries.first(where: { $0.entry.store.isSame(as: storage) })?.position,
                let entry = core.remove(storage)
            else {
                throw StorageError(.notFound, "the store is not part of this stack")
            }
            defer { core.didRemove(position) }
            core.storesChanged(position)
            // One that ended after the store was added again would be delivered twice: as a commit of this stack, and as one from the history
            // at the new position of the store.
            core.waitForCommits(to: position, atMost: JointCommits.patience)
            // Another thread may have closed it and added it again meanwhile.
            if core.entries.contains(where: { $0.entry.store.isSame(as: storage) }) { return }
            try entry.store.close()
        }
    }

    /// Adds all stores of a configuration, in their order. If one cannot be opened, none of them is added.
    public func addStorages(_ configuration: StackConfiguration, opener: some StoreOpener) throws(StorageError) {
        var added: [any StorageInterface] = []
        do throws(StorageError) {
            for store in configuration.stores {
                let storage = try opener.store(at: StoreURL(store.url), configuration: store.configuration)
                try addStorageAndWait(storage)
                added.append(storage)
            }
        } catch {
            for storage in added { try? removeStorage(storage) }
            throw error
        }
    }

    private func add(_ storage: any StorageInterface, _ allowed: AllowedMigrations) throws(StorageError) {
        try core.checkReentrancy()
        try core.gate.enter()
        defer { core.gate.leave() }
        let entities = try routed(to: storage.configuration)
        let store = try open(storage, allowed)
        if core.entries.contains(where: { $0.entry.store.storeID == store.storeID }) {
            try? store.close()
            throw StorageError(
                .alreadyExists, "a store with the identity \(store.storeID.uuidString.lowercased()) is already part of this stack")
        }
        core.waitForRemoval(of: store.storeID)
        guard let position = append(store, entities) else {
            try? store.close()
            throw WorkGate.closed
        }
        core.catchUp()
        core.storesChanged(position)
    }

    /// Adds an open store, whose reads of rows that the engine could not select are reported. Returns its position; nil after the beginning
    /// of a shutdown.
    @discardableResult
    private func append(_ store: OpenStore, _ entities: Set<EntityIndex>) -> Int? {
        let storeType = store.storeType
        store.residualReport = { [weak core] in core?.report($0, of: storeType) }
        store.reachabilityReport = { StackCore.reportReachability($0, of: storeType) }
        return core.additions.adding(store) { core.append(StackCore.Entry(store: store, entities: entities)) }
    }

    private func open(_ storage: any StorageInterface, _ allowed: AllowedMigrations) throws(StorageError) -> OpenStore {
        let request = OpenRequest(schema: schema)
        do throws(StorageError) {
            let store = try OpenStore(opening: storage, request)
            guard let refusal = pendingWork(store) else { return store }
            try store.close()
            throw refusal
        } catch  where error.code == .schemaMismatch {
            do throws(StorageError) {
                return try migrate(storage, allowed, refusal: error)
            } catch  where Self.isReplaceable(storage) && isFinal(error, storage) {
                StoreLogging.notice("a store is erased and created again because it cannot be migrated: \(error.message)")
            }
            try storage.erase()
            return try OpenStore(opening: storage, request)
        }
    }

    /// Whether a repetition of a migration would fail as well: there is no path to the model, or objects violate its rules. Where the program
    /// takes part in a step the error can be one of its code, which says nothing about the objects; then only an empty store is replaced.
    private func isFinal(_ error: StorageError, _ storage: any StorageInterface) -> Bool {
        guard [.noMigrationPath, .uniqueConstraintViolated, .validationFailed].contains(error.code) else { return false }
        let steps = (try? requiredMigrations(for: storage)) ?? []
        return !steps.contains(where: \.type.isHeavyweightMigration) || (try? isEmpty(storage)) == true
    }

    private func routed(to configuration: String?) throws(StorageError) -> Set<EntityIndex> {
        guard let configuration else { return Set(schema.entities.indices) }
        guard let names = schema.configurations[configuration] else {
            throw StorageError(
                .invalidConfiguration,
                "the model has no configuration \"\(configuration)\"\(Suggestion.nearest(configuration, in: schema.configurations.keys))")
        }
        return Set(names.compactMap(schema.index(of:)))
    }
}

extension DataStack {
    /// Adds a store that is open, for all entities.
    package func add(_ store: OpenStore) { append(store, Set(schema.entities.indices)) }

    /// Returns a store of the stack as an open store, if its objects can be moved to another one.
    ///
    /// - Throws: `notFound` if the store is not in the stack; `reentrantCall` in a transaction of the stack; `unsupported` if attributes refer
    ///   to its objects by ids.
    package func movableStore(_ storage: any StorageInterface) throws(StorageError) -> OpenStore {
        try core.checkReentrancy()
        guard let entry = core.entries.first(where: { $0.entry.store.isSame(as: storage) })?.entry else {
            throw StorageError(.notFound, "the store is not part of this stack")
        }
        for reference in core.model.references where !entry.entities.isDisjoint(with: schema[reference.destination].family) {
            let (entity, attribute) = (schema[reference.entity].name, schema[reference.entity].slots[reference.slot].name)
            throw StorageError(
                .unsupported,
                "\(entity).\(attribute) refers to objects of the store by ids, which name the store, so that they would lead nowhere after a move",
                details: .init(entity: entity, property: attribute))
        }
        return entry.store
    }

    /// Runs a closure that moves the objects of a store of the stack to another open store. When that is complete, the closure calls
    /// `exchange`, after which the stack uses the other store. Write transactions that are refused meanwhile wait and are repeated.
    ///
    /// - Throws: `busy` if another store is being replaced; the error of the closure. Before the exchange the store remains in the stack.
    package func replaceStorage<R>(
        _ storage: any StorageInterface, by other: OpenStore, _ body: (_ exchange: () throws(StorageError) -> Void) throws -> R
    ) throws -> R {
        try core.beginReplacement()
        defer { core.endReplacement() }
        var former: OpenStore?
        let result = Result {
            try body { () throws(StorageError) in
                other.residualReport = { [weak core, type = other.storeType] in core?.report($0, of: type) }
                other.reachabilityReport = { [type = other.storeType] in StackCore.reportReachability($0, of: type) }
                guard let replaced = core.additions.adding(other, isReplacement: true, { core.replace(storage, by: other) }) else {
                    throw StorageError(.notFound, "the store is not part of this stack")
                }
                former = replaced.store
                core.storesChanged(replaced.former)
                core.storesChanged(replaced.current)
            }
        }
        try former?.close()
        return try result.get()
    }

    /// Checks whether attributes of the objects of a request can be assigned values, as far as this is known before there is an object.
    package func checkUpdate<Object: ManagedObject>(_ from: From<Object>, _ assignments: [Assignment<Object>]) throws(StorageError) {
        try reporting { () throws(StorageError) in
            _ = try BatchWork(ObjectContext(stack: core, model: core.model), from.plan(core.model)).checked(assignments)
        }
    }
}

extension StackCore {
    /// Runs a closure with a store on a thread of the stack, and calls a completion on a queue.
    func open<R: Sendable>(
        on queue: DispatchQueue?, _ completion: @escaping @Sendable (Result<R, StorageError>) -> Void,
        _ body: @escaping @Sendable () throws(StorageError) -> R
    ) {
        let queue = queue ?? completions
        workers.openings.submit(WorkLimit()) { refusal, _ in
            let result = Result { () throws(StorageError) in
                if let refusal { throw refusal }
                return try body()
            }
            queue.async { completion(result) }
        }
    }
}
