public import PolystoreFoundation
public import PolystoreStorage

extension DataStack {
    /// Returns the migration steps that a store requires to reach the current version of the model, without running them. Returns none for
    /// a store that does not exist.
    ///
    /// - Throws: `noMigrationPath` if no path reaches the current version; any error of opening.
    public func requiredMigrations(for storage: any StorageInterface) throws(StorageError) -> [RequiredMigration] {
        if core.entries.contains(where: { $0.entry.store.isSame(as: storage) }) { return [] }
        var attempts = 0
        while true {
            let store: OpenStore
            do throws(StorageError) {
                store = try OpenStore(opening: storage, OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
            } catch  where error.code == .notFound {
                return []
            }
            defer { try? store.close() }
            do throws(StorageError) {
                return try runner(store, nil).requiredMigrations()
            } catch  where error.code == .schemaMismatch && attempts < Self.mostSteps {
                // Another program ran a step after the store was opened: determine the remaining steps again.
                attempts += 1
            }
        }
    }

    /// The number of steps of other programs after which the retries end.
    private static let mostSteps = 20

    /// Migrates a store to the current version of the model without adding it, while the caller waits.
    ///
    /// - Returns: The steps that were run.
    /// - Throws: Any error of a migration by `addStorage`.
    @discardableResult
    public func upgradeStorageIfNeeded(
        _ storage: any StorageInterface, progress: MigrationProgress? = nil
    ) throws(StorageError) -> [MigrationType] {
        try reporting { () throws(StorageError) in try core.checkReentrancy() }
        let required = try requiredMigrations(for: storage).map(\.type)
        if required.isEmpty { return [] }
        try reporting { () throws(StorageError) in
            defer { try? storage.close() }
            _ = try take(storage, progress)
        }
        return required
    }

    /// Migrates a store in the background without adding it.
    ///
    /// - Parameters:
    ///   - storage: The store.
    ///   - queue: The queue on which the completion is called; nil for the stack's own queue.
    ///   - completion: A closure that is called with the steps that were run, or with the error.
    /// - Returns: The progress; nil if no migration is required.
    @discardableResult
    public func upgradeStorageIfNeeded(
        _ storage: any StorageInterface, on queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (Result<[MigrationType], StorageError>) -> Void
    ) -> MigrationProgress? {
        let steps = (try? requiredMigrations(for: storage)) ?? []
        let progress = steps.isEmpty ? nil : MigrationProgress(steps: steps.count)
        core.open(on: queue, completion) { () throws(StorageError) in try self.upgradeStorageIfNeeded(storage, progress: progress) }
        return progress
    }

    /// Returns the refusal of an open store whose version has the hash of the current one, but that lacks work of the program between them.
    func pendingWork(_ store: OpenStore) -> StorageError? {
        let stored = store.state.schema
        if stored.version == schema.version || !store.capabilities.contains(.migrations) { return nil }
        do throws(StorageError) {
            if try runner(store.keeping(stored), nil).steps().isEmpty { return nil }
        } catch { return error }
        return StorageError(
            .schemaMismatch,
            "the store has version \"\(stored.version)\" of the model, and the work of the program up to version \"\(schema.version)\" is required"
        )
    }

    /// Migrates a store with another version, as far as that is allowed.
    func migrate(
        _ storage: any StorageInterface, _ allowed: AllowedMigrations, refusal: StorageError
    ) throws(StorageError) -> OpenStore {
        let isReplaceable = Self.isReplaceable(storage)
        guard storage.capabilities.contains(.migrations) else {
            let code = isReplaceable ? .noMigrationPath : refusal.code
            throw StorageError(code, "\(refusal.message); \(StorageError.lacksMigrations.message)", cause: refusal)
        }
        switch allowed {
        case .all(let progress): return try take(storage, progress, acceptsLosses: isReplaceable)
        case .synchronous:
            let isAllowed = isReplaceable || Self.options(of: storage).contains(.allowSynchronousLightweightMigration)
            guard isAllowed, try !requiredMigrations(for: storage).contains(where: \.type.isHeavyweightMigration) else {
                if isReplaceable, try isEmpty(storage) {
                    throw StorageError(.noMigrationPath, "\(refusal.message); the store has no objects to migrate", cause: refusal)
                }
                throw StorageError(refusal.code, "\(refusal.message); \(remedy(for: storage))", cause: refusal)
            }
            return try take(storage, nil, acceptsLosses: isReplaceable)
        }
    }

    /// Returns what to do with a store that was not migrated while the caller waits.
    private func remedy(for storage: any StorageInterface) -> String {
        do throws(StorageError) {
            if try requiredMigrations(for: storage).contains(where: \.type.isHeavyweightMigration) {
                return
                    "a step to this model is more than what follows from the schemas, and is not made while the caller waits; add the store "
                    + "with addStorage"
            }
            let option = "allow lightweight migrations with allowSynchronousLightweightMigration"
            return "addStorage migrates it" + (storage is any LocalStorage ? ", or \(option)" : "")
        } catch  where error.code == .noMigrationPath {
            // The program is older than the store, or does not know its version: no way of adding the store migrates it.
            return error.message
        } catch {
            return "addStorage migrates it if the history of versions has a migration path to this model"
        }
    }

    private static func options(of storage: any StorageInterface) -> LocalStorageOptions {
        (storage as? any LocalStorage)?.localStorageOptions ?? []
    }

    /// Whether a store may be erased if it cannot be migrated. The database of another program never is.
    static func isReplaceable(_ storage: any StorageInterface) -> Bool {
        options(of: storage).contains(.recreateStoreOnModelMismatch)
            && (storage.capabilities.contains(.migrations) || !(storage is any ForeignStorage))
    }

    /// Whether a store has no objects, in the version that it has.
    func isEmpty(_ storage: any StorageInterface) throws(StorageError) -> Bool {
        let store = try OpenStore(opening: storage, OpenRequest(schema: nil, createIfMissing: false, readOnly: true))
        defer { try? store.close() }
        let reader = try store.beginRead()
        defer { reader.end() }
        for root in store.schema.roots {
            if try reader.values(for: .count(FetchPlan(store.schema, root))).first?.first != .int(0) { return false }
        }
        return true
    }

    private func runner(_ store: OpenStore, _ progress: MigrationProgress?) -> MigrationRunner {
        MigrationRunner(schemaHistory, store, progress: progress, peer: core.reading(for: store.storeID, WriteOptions()))
    }

    /// Opens a store and migrates it to the current version. The store remains open.
    ///
    /// - Parameter acceptsLosses: Whether values of removed properties may be lost, because the program accepts the loss of all objects.
    private func take(
        _ storage: any StorageInterface, _ progress: MigrationProgress?, acceptsLosses: Bool = false
    ) throws(StorageError) -> OpenStore {
        defer { progress?.finish() }
        do throws(StorageError) {
            var attempts = 0
            while true {
                let store = try OpenStore(opening: storage, OpenRequest(schema: nil, createIfMissing: false))
                do throws(StorageError) {
                    var runner = runner(store, progress)
                    runner.acceptsLosses = acceptsLosses
                    try runner.run()
                    return store.keeping(schema)
                } catch  where error.code == .schemaMismatch && attempts < Self.mostSteps {
                    // Another program ran a step first: determine the remaining steps again.
                    attempts += 1
                    try storage.close()
                }
            }
        } catch {
            try? storage.close()
            throw error
        }
    }
}
