public import PolystoreStorage

/// Leads a store to the next version of the model while programs of the older one go on, and those of the newer one start beside them.
///
/// The phases are taken one by one, by whoever deploys: `expand`, `backfill`, then the new programs start and the old ones stop, then
/// `contract`. A stack of either version opens the store as always; that of the newer one when it is filled.
public struct RollingMigration {
    private let storage: any RollingStorage
    private let store: OpenStore

    /// The phases of a store that is open for writing and was opened without a model of its own.
    ///
    /// - Throws: `unsupported` for a store without the capability `rollingMigrations`.
    public init(_ store: OpenStore) throws(StorageError) {
        guard let storage = store.ability((any RollingStorage).self), store.capabilities.contains(.rollingMigrations) else {
            throw StorageError(
                .unsupported,
                "the store cannot be used in two versions of the model (capability rollingMigrations): migrate it while no other program runs"
            )
        }
        self.storage = storage
        self.store = store
    }

    /// The step that is under way; nil where there is none.
    public func current() throws(StorageError) -> RollingMigrationState? { try storage.rollingMigration() }

    /// What the store would do in each phase, line by line, for people to read.
    ///
    /// - Throws: What `expand` throws of a step that cannot be taken so.
    public func explanation(to history: SchemaHistory) throws(StorageError) -> [String] {
        guard let step = try step(to: history) else { return [] }
        return try storage.explanation(ofRolling: step)
    }

    /// Makes room for the next version: the current one of a history, which must be one step away that follows from the two versions.
    ///
    /// - Parameters:
    ///   - history: The versions, with the one that the store keeps.
    ///   - timeout: The most seconds to try; programs that hold what is needed are let pass in between.
    /// - Throws: `unsupported` naming the property for which two versions cannot be kept side by side, or a step of the program's own;
    ///   `noMigrationPath`; `busy`.
    public func expand(to history: SchemaHistory, timeout: Double = 60) throws(StorageError) {
        guard let step = try step(to: history) else {
            throw StorageError(.invalidConfiguration, "the store keeps version \"\(store.schema.version)\" of the model already")
        }
        try storage.expand(step, WriteOptions(timeout: timeout))
    }

    /// Fills what the next version has of the objects that are there, a batch at a time, and makes its indexes. It can be stopped and run again.
    ///
    /// - Parameters:
    ///   - pace: How many objects at a time, and how long to rest in between.
    ///   - progress: Told how far it has come, and asked whether it is cancelled.
    /// - Throws: `notFound` where no step is under way; `busy` where another program fills; `cancelled`.
    public func backfill(_ pace: BackfillPace = BackfillPace(), progress: MigrationProgress? = nil) throws(StorageError) {
        progress?.begin(steps: 1)
        defer { progress?.finish() }
        try storage.backfill(pace) { batch throws(StorageError) in
            if progress?.isCancelled == true {
                throw StorageError(.cancelled, "the filling was stopped; backfill goes on from there")
            }
            progress?.advance(fraction: Double(batch.completed) / Double(max(batch.total, 1)), objects: batch.completed)
        }
        progress?.stepDone()
    }

    /// What the older version has stored that the next one has no place for, and was not accepted.
    ///
    /// - Parameter acceptedLosses: What may go, by the paths of the changes.
    /// - Throws: `notFound` where no step is under way.
    public func losses(accepting acceptedLosses: Set<String> = []) throws(StorageError) -> [SchemaChange] {
        let possible = try possibleLosses(acceptedLosses), reader = try store.beginRead()
        defer { reader.end() }
        return try possible.stored(in: reader)
    }

    private func possibleLosses(_ accepted: Set<String>) throws(StorageError) -> MigrationLosses {
        guard let current = try current() else {
            throw StorageError(.notFound, "no step is under way in the store; begin one with expand")
        }
        return MigrationLosses(MigrationMapping(SchemaMapping(from: current.source, to: current.destination)), accepted: accepted)
    }

    /// Ends the step with the next version; programs of the older one are refused from then on.
    ///
    /// - Parameters:
    ///   - acceptedLosses: What only the older version had and may go, by the paths of the changes.
    ///   - timeout: The most seconds to try.
    /// - Throws: `dataLossRefused` naming what would be lost; `busy` where the store is not filled, or others held it all the time.
    public func contract(acceptingLosses acceptedLosses: Set<String> = [], timeout: Double = 60) throws(StorageError) {
        let possible = try possibleLosses(acceptedLosses)
        try refuse(try losses(accepting: acceptedLosses))
        // Programs of the older version write until the end, so the answer counts that is given when they no longer can.
        try storage.contract(WriteOptions(timeout: timeout)) { session throws(StorageError) in try refuse(try possible.stored(in: session))
        }
    }

    private func refuse(_ losses: [SchemaChange]) throws(StorageError) {
        guard let loss = losses.first?.loss else { return }
        let paths = losses.map { "\"\($0.path)\"" }.joined(separator: ", ")
        throw StorageError(.dataLossRefused, "the older version's \(loss) would be lost: name what may go, [\(paths)]")
    }

    /// Ends the step with the older version; programs of the newer one are refused from then on.
    ///
    /// - Parameters:
    ///   - acceptsLosses: Whether what they stored may go that the older version has no place for.
    ///   - timeout: The most seconds to try.
    /// - Throws: `notFound` where no step is under way; `dataLossRefused` naming what would be lost.
    public func abandon(acceptingLosses acceptsLosses: Bool = false, timeout: Double = 60) throws(StorageError) {
        try storage.abandon(acceptingLosses: acceptsLosses, WriteOptions(timeout: timeout))
    }

    private func step(to history: SchemaHistory) throws(StorageError) -> MigrationStep? {
        let steps = try MigrationRunner(history, store).steps()
        guard let step = steps.first else { return nil }
        if steps.count > 1 {
            let path = steps.map { "\"\($0.type.sourceVersion)\" → \"\($0.type.destinationVersion)\"" }.joined(separator: ", ")
            throw StorageError(
                .unsupported, "the way to version \"\(history.currentSchema.version)\" has several steps: take them one by one (\(path))")
        }
        if step.type.isHeavyweightMigration || step.stage != nil {
            throw StorageError(
                .unsupported,
                "the step \(step.type) has a mapping or a stage of the program, which cannot follow each write of the older version: add what "
                    + "is new as optional, let the newer program fill it, and remove the old in a step of its own")
        }
        return MigrationRunner.step(step.mapping)
    }
}
