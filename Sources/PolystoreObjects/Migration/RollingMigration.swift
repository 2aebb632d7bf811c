public import PolystoreStorage

/// An online migration of a store to the next version of the model. Programs of the older version continue, while programs of the newer
/// version start.
///
/// The deployment runs the phases one by one: `expand` and `backfill`; then the new programs are started and the old ones stopped; then
/// `contract`. A stack of the older version opens the store as before, and one of the newer version as soon as the backfill is complete.
public struct RollingMigration {
    private let storage: any RollingStorage
    private let store: OpenStore

    /// Creates the phases for a store that is open for writing and was opened without a model.
    ///
    /// - Throws: `unsupported` for a store without the capability `rollingMigrations`.
    public init(_ store: OpenStore) throws(StorageError) {
        guard let storage = store.ability((any RollingStorage).self), store.capabilities.contains(.rollingMigrations) else {
            throw StorageError(
                .unsupported,
                "the store does not support two versions of the model at once (capability rollingMigrations); migrate it while no other program uses it"
            )
        }
        self.storage = storage
        self.store = store
    }

    /// Returns the running migration; nil if there is none.
    public func current() throws(StorageError) -> RollingMigrationState? { try storage.rollingMigration() }

    /// Returns a readable description, line by line, of the store's work in each phase.
    ///
    /// - Throws: Any error of `expand` for an unsupported step.
    public func explanation(to history: SchemaHistory) throws(StorageError) -> [String] {
        guard let step = try step(to: history) else { return [] }
        return try storage.explanation(ofRolling: step)
    }

    /// Adds the structures of the next version: the current one of a history, which must be a single step away that can be inferred from
    /// the two versions.
    ///
    /// - Parameters:
    ///   - history: The versions, including the one that the store has.
    ///   - timeout: The maximum time in seconds for retries. Between attempts, programs that hold required locks can proceed.
    /// - Throws: `unsupported`, which names the property that cannot be kept in two versions, or for a step with custom work of the
    ///   program; `noMigrationPath`; `busy`.
    public func expand(to history: SchemaHistory, timeout: Double = 60) throws(StorageError) {
        guard let step = try step(to: history) else {
            throw StorageError(.invalidConfiguration, "the store already has version \"\(store.schema.version)\" of the model")
        }
        try storage.expand(step, WriteOptions(timeout: timeout))
    }

    /// Fills the data of the next version for existing objects, batch by batch, and creates its indexes. It can be stopped and run again.
    ///
    /// - Parameters:
    ///   - pace: The number of objects per batch and the pause between batches.
    ///   - progress: The progress, which is updated and checked for cancellation.
    /// - Throws: `notFound` if no migration is running; `busy` if another program is backfilling; `cancelled`.
    public func backfill(_ pace: BackfillPace = BackfillPace(), progress: MigrationProgress? = nil) throws(StorageError) {
        progress?.begin(steps: 1)
        defer { progress?.finish() }
        try storage.backfill(pace) { batch throws(StorageError) in
            if progress?.isCancelled == true {
                throw StorageError(.cancelled, "the backfill was cancelled; call backfill again to continue")
            }
            progress?.advance(fraction: Double(batch.completed) / Double(max(batch.total, 1)), objects: batch.completed)
        }
        progress?.stepDone()
    }

    /// Returns the stored data of the older version that the next version cannot represent and whose loss was not accepted.
    ///
    /// - Parameter acceptedLosses: The accepted losses, by the paths of the changes.
    /// - Throws: `notFound` if no migration is running.
    public func losses(accepting acceptedLosses: Set<String> = []) throws(StorageError) -> [SchemaChange] {
        let possible = try possibleLosses(acceptedLosses), reader = try store.beginRead()
        defer { reader.end() }
        return try possible.stored(in: reader)
    }

    private func possibleLosses(_ accepted: Set<String>) throws(StorageError) -> MigrationLosses {
        guard let current = try current() else {
            throw StorageError(.notFound, "the store has no online migration in progress; start one with expand")
        }
        return MigrationLosses(MigrationMapping(SchemaMapping(from: current.source, to: current.destination)), accepted: accepted)
    }

    /// Completes the migration with the next version. From then on the store refuses programs of the older version.
    ///
    /// - Parameters:
    ///   - acceptedLosses: The accepted losses of data that only the older version has, by the paths of the changes.
    ///   - timeout: The maximum time in seconds for retries.
    /// - Throws: `dataLossRefused`, which names the losses; `busy` if the backfill is not complete, or other sessions held the required
    ///   locks all the time.
    public func contract(acceptingLosses acceptedLosses: Set<String> = [], timeout: Double = 60) throws(StorageError) {
        let possible = try possibleLosses(acceptedLosses)
        try refuse(try losses(accepting: acceptedLosses))
        // Programs of the older version write until the end, so the decisive check runs when they no longer can.
        try storage.contract(WriteOptions(timeout: timeout)) { session throws(StorageError) in try refuse(try possible.stored(in: session))
        }
    }

    private func refuse(_ losses: [SchemaChange]) throws(StorageError) {
        guard let loss = losses.first?.loss else { return }
        let paths = losses.map { "\"\($0.path)\"" }.joined(separator: ", ")
        throw StorageError(.dataLossRefused, "\(loss) of the older version would be lost; accept the loss with acceptingLosses: [\(paths)]")
    }

    /// Abandons the migration and keeps the older version. From then on the store refuses programs of the newer version.
    ///
    /// - Parameters:
    ///   - acceptsLosses: Whether data may be discarded that programs of the newer version stored and that the older version cannot
    ///     represent.
    ///   - timeout: The maximum time in seconds for retries.
    /// - Throws: `notFound` if no migration is running; `dataLossRefused`, which names the losses.
    public func abandon(acceptingLosses acceptsLosses: Bool = false, timeout: Double = 60) throws(StorageError) {
        try storage.abandon(acceptingLosses: acceptsLosses, WriteOptions(timeout: timeout))
    }

    private func step(to history: SchemaHistory) throws(StorageError) -> MigrationStep? {
        let steps = try MigrationRunner(history, store).steps()
        guard let step = steps.first else { return nil }
        if steps.count > 1 {
            let path = steps.map { "\"\($0.type.sourceVersion)\" → \"\($0.type.destinationVersion)\"" }.joined(separator: ", ")
            throw StorageError(
                .unsupported,
                "the migration to version \"\(history.currentSchema.version)\" has several steps; apply them one by one (\(path))")
        }
        if step.type.isHeavyweightMigration || step.stage != nil {
            throw StorageError(
                .unsupported,
                "the step \(step.type) has a custom mapping or a stage, which cannot run for each write of the older version; add new properties "
                    + "as optional, fill them in the newer program, and remove the old ones in a separate step")
        }
        return MigrationRunner.step(step.mapping)
    }
}
