public import Foundation
public import PolystoreStorage

/// How the addition of a store ended.
public typealias SetupResult<Storage: StorageInterface> = Result<Storage, StorageError>

/// A store that has a place of its own when none is named.
public protocol DefaultPlaceStorage: StorageInterface {
    /// A store at the default place of the program.
    init() throws(StorageError)
}

extension DataStack {
    /// Opens a store and adds it to the stack.
    ///
    /// A store that does not exist is made. Entities are routed to it by its configuration: nil is the one that holds all entities.
    /// One that keeps another version of the model is migrated only with the option `allowSynchronousLightweightMigration`, and only by
    /// steps that follow from the schemas.
    /// - Throws: `schemaMismatch` naming the first difference when the store keeps another version; whatever opening and migrating throw.
    @discardableResult
    public func addStorageAndWait<Storage: StorageInterface>(_ storage: Storage) throws(StorageError) -> Storage {
        try reporting { () throws(StorageError) in try add(storage, .synchronous) }
        return storage
    }

    /// Opens the store of a kind at its default place and adds it.
    @discardableResult
    public func addStorageAndWait<Storage: DefaultPlaceStorage>(_ type: Storage.Type) throws(StorageError) -> Storage {
        try addStorageAndWait(type.init())
    }

    /// Opens a store on a thread of the stack and adds it, migrating it where it keeps another version of the model.
    ///
    /// A task that is cancelled cancels the migration: the step at work is undone, steps that are done stay.
    /// - Parameters:
    ///   - storage: The store.
    ///   - progress: Told how far a migration has come; its handlers and sequences end with it.
    /// - Throws: `noMigrationPath` and `dataLossRefused` before anything is changed; `validationFailed` and `uniqueConstraintViolated` for
    ///   objects that do not keep the rules of a new version, which leave the version before; whatever opening throws.
    @discardableResult
    public func addStorage<Storage: StorageInterface>(
        _ storage: Storage, progress: MigrationProgress = MigrationProgress()
    ) async throws -> Storage {
        try await withTaskCancellationHandler {
            try await core.workers.openings.run(WorkLimit()) { refusal in
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

    /// Opens a store in the background and adds it, migrating it where it keeps another version of the model.
    ///
    /// - Parameters:
    ///   - storage: The store.
    ///   - queue: Where the completion is called; nil for the stack's own queue.
    ///   - completion: Called with the store, or why it was not added.
    /// - Returns: The progress of a migration; nil when nothing has to be migrated.
    @discardableResult
    public func addStorage<Storage: StorageInterface>(
        _ storage: Storage, on queue: DispatchQueue? = nil, completion: @escaping @Sendable (SetupResult<Storage>) -> Void
    ) -> MigrationProgress? {
        // What is wrong with the store is told to the completion.
        let steps = (try? requiredMigrations(for: storage)) ?? []
        let progress = steps.isEmpty ? nil : MigrationProgress(steps: steps.count)
        core.open(on: queue, completion) { () throws(StorageError) in
            try reporting { () throws(StorageError) in try self.add(storage, .all(progress ?? MigrationProgress())) }
            return storage
        }
        return progress
    }

    /// Takes a store out of the stack and closes it; its objects can no longer be loaded.
    ///
    /// A transaction over several stores whose commit has begun ends before the store is closed; one that has not come so far fails with
    /// `storeClosed`, and nothing of it is there.
    /// - Throws: `notFound` if the stack does not have it.
    public func removeStorage(_ storage: any StorageInterface) throws(StorageError) {
        try reporting { () throws(StorageError) in
            try core.checkReentrancy()
            guard let position = core.entries.first(where: { $0.entry.store.isSame(as: storage) })?.position,
                let entry = core.remove(storage)
            else {
                throw StorageError(.notFound, "the store is not part of this stack")
            }
            core.storesChanged(position)
            core.joint.awaitCommit(of: position)
            try entry.store.close()
        }
    }

    /// Adds every store of a configuration, in its order; if one cannot be opened, none stays.
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
        let entities = try routed(to: storage.configuration)
        let store = try open(storage, allowed)
        if core.entries.contains(where: { $0.entry.store.storeID == store.storeID }) {
            try? store.close()
            throw StorageError(.alreadyExists, "this store is already part of the stack")
        }
        let storeType = store.storeType
        store.residualReport = { [weak core] in core?.report($0, of: storeType) }
        let position = core.append(StackCore.Entry(store: store, entities: entities))
        core.catchUp()
        core.storesChanged(position)
    }

    private func open(_ storage: any StorageInterface, _ allowed: AllowedMigrations) throws(StorageError) -> OpenStore {
        let request = OpenRequest(schema: schema)
        do throws(StorageError) {
            return try OpenStore(opening: storage, request)
        } catch  where error.code == .schemaMismatch {
            do throws(StorageError) {
                return try migrate(storage, allowed, refusal: error)
            } catch  where error.code == .noMigrationPath || error.code == .dataLossRefused {
                guard let local = storage as? any LocalStorage, local.localStorageOptions.contains(.recreateStoreOnModelMismatch) else {
                    throw error
                }
            }
            StoreLogging.notice("a store is made anew because no migration leads from its model: \(error.message)")
            try storage.erase()
            return try OpenStore(opening: storage, request)
        }
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

extension StackCore {
    /// Does something with a store on a thread of the stack, and calls a completion on a queue.
    func open<R: Sendable>(
        on queue: DispatchQueue?, _ completion: @escaping @Sendable (Result<R, StorageError>) -> Void,
        _ body: @escaping @Sendable () throws(StorageError) -> R
    ) {
        let queue = queue ?? completions
        workers.openings.submit(WorkLimit()) { refusal in
            let result = Result { () throws(StorageError) in
                if let refusal { throw refusal }
                return try body()
            }
            queue.async { completion(result) }
        }
    }
}
