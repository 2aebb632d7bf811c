public import PolystoreFoundation
public import PolystoreStorage

/// The migration of an open store from its stored version of the model to the current one of a history, step by step.
///
/// A stack migrates a store when the store is added. This type is for programs that have only a store.
public struct MigrationRunner {
    /// The time in seconds for which a step waits for other writers.
    private static let timeout: TimeInterval = 30

    let history: SchemaHistory
    let store: OpenStore
    private let progress: MigrationProgress?
    private let mappingProviders: [any SchemaMappingProvider]
    private let isReturning: Bool
    private let peer: (UUID) throws(StorageError) -> ReadSession?
    /// Whether every loss is accepted, in addition to those that the history accepts.
    var acceptsLosses = false

    /// Creates a runner for a store that is open for writing and has no session.
    ///
    /// - Parameters:
    ///   - history: The versions. The store is migrated to the current one.
    ///   - store: The store.
    ///   - mappingProviders: Providers that are consulted about a step after the store's own providers.
    ///   - progress: The progress, which is updated and checked for cancellation.
    ///   - peer: A function that begins to read a store which commits together with this one; nil if that store is not available.
    public init(
        _ history: SchemaHistory, _ store: OpenStore, mappingProviders: [any SchemaMappingProvider] = [],
        progress: MigrationProgress? = nil,
        peer: @escaping (UUID) throws(StorageError) -> ReadSession? = { _ in nil }
    ) {
        self.history = history
        self.store = store
        self.progress = progress
        self.mappingProviders = mappingProviders
        self.peer = peer
        isReturning = false
    }

    /// Creates a runner that migrates a store back to an earlier version of it and follows the names of both versions backwards
    /// (`SchemaMapping.init(from:backTo:)`).
    ///
    /// - Parameters:
    ///   - older: The version that preceded the present one (`MigrationRecord.ancestors`).
    ///   - losses: The stored data that may be lost, by the paths of the changes.
    ///   - store: The store, open for writing and without any session.
    ///   - progress: The progress, which is updated and checked for cancellation.
    public init(
        backTo older: Schema, acceptedLosses losses: Set<String> = [], _ store: OpenStore, progress: MigrationProgress? = nil
    ) {
        var history = SchemaHistory(current: older)
        history.acceptedLosses = losses
        self.history = history
        self.store = store
        self.progress = progress
        mappingProviders = []
        peer = { _ throws(StorageError) in nil }
        isReturning = true
    }

    /// One step with its mapping and stage.
    struct Step {
        let number: Int
        let type: MigrationType
        let mapping: MigrationMapping
        let stage: MigrationStage?
    }

    /// Returns the steps from the stored schema.
    ///
    /// - Throws: `noMigrationPath` if no path reaches the current version, or the mapping of a step is not determined.
    func steps() throws(StorageError) -> [Step] {
        var steps: [Step] = []
        for (source, destination) in try ways() {
            let versions = (source.version, destination.version)
            let stage = history.stages.first { $0.sourceVersion == versions.0 && $0.destinationVersion == versions.1 }
            let mapping = try mapping(from: source, to: destination, stage)
            if source.hash == destination.hash, !mapping.isInferred { throw Self.refusal(ofMappingBetweenEqual: versions) }
            let type: MigrationType =
                mapping.isInferred
                ? .lightweight(sourceVersion: versions.0, destinationVersion: versions.1)
                : .heavyweight(sourceVersion: versions.0, destinationVersion: versions.1)
            steps.append(Step(number: steps.count, type: stage?.isCustom == true ? type.heavyweight : type, mapping: mapping, stage: stage))
        }
        return steps
    }

    /// Returns a step as the store performs it. The caller writes the results of transformers.
    static func step(_ mapping: MigrationMapping) -> MigrationStep {
        let schemas = mapping.schemas
        var written: Set<EntityIndex> = []
        for (index, part) in schemas.entities.enumerated() where mapping.transformers[index] != nil {
            written.insert(schemas.destination[part.destination].root)
        }
        return MigrationStep(schemas, writtenRoots: written)
    }

    /// Returns the schemas of each step.
    private func ways() throws(StorageError) -> [(source: Schema, destination: Schema)] {
        if isReturning { return store.schema.hash == history.currentSchema.hash ? [] : [(store.schema, history.currentSchema)] }
        try refuseReturn()
        let providers = store.migrationMappingProviders + mappingProviders
        return try history.steps(from: store.schema) { step throws(StorageError) in
            if step.source.hash != step.destination.hash { return false }
            for provider in providers {
                if let mapping = try provider.mapping(from: step.source, to: step.destination) { return !mapping.isInferred }
            }
            return false
        }
    }

    // Programs of the older version continue to work between two versions of the same hash, so their rows must stay where they are.
    private static func refusal(ofMappingBetweenEqual versions: (source: String, destination: String)) -> StorageError {
        StorageError(
            .invalidConfiguration,
            "the mapping from version \"\(versions.source)\" of the model to \"\(versions.destination)\" cannot run, because both versions "
                + "are stored alike; change the objects in a MigrationStage between these versions")
    }

    /// Throws if the store has already left this program's version. The program is outdated: only an explicit chain migrates back.
    private func refuseReturn() throws(StorageError) {
        let current = history.currentSchema
        if history.migrationChain.hasSteps || store.schema.hash == current.hash { return }
        let reader = try store.beginRead()
        defer { reader.end() }
        let before = MigrationRecord.ancestors(of: store.schema, try MigrationRecord.all(reader))
        // A new version may be identical to an old one, with another name.
        guard before.contains(where: { $0.hash == current.hash && $0.version == current.version }) else { return }
        throw StorageError(
            .noMigrationPath,
            "the store was migrated from version \"\(current.version)\" of the model to \"\(store.schema.version)\" by a newer program; update this one"
        )
    }

    private func mapping(
        from source: Schema, to destination: Schema, _ stage: MigrationStage?
    ) throws(StorageError) -> MigrationMapping {
        for provider in store.migrationMappingProviders + mappingProviders {
            if let mapping = try provider.mapping(from: source, to: destination) { return mapping }
        }
        return try InferredSchemaMappingProvider(isReturning: isReturning).inferred(
            from: source, to: destination, exceptAdditions: stage?.hasWorkAfter == true)
    }

    /// Runs all steps. Afterwards the store is open with the current version.
    ///
    /// - Returns: The steps that were run.
    /// - Throws: `schemaMismatch` if another program migrated the store first: open the store again and run the remaining steps.
    ///   `noMigrationPath` and `dataLossRefused` before a step changes anything; `validationFailed` and `uniqueConstraintViolated` for
    ///   objects that violate rules of the new version; `cancelled`. After an error the store has the version before the step.
    @discardableResult
    public func run() throws(StorageError) -> [MigrationType] {
        let steps = try steps()
        if let last = steps.last, store.state.isReadOnly {
            throw StorageError(
                .readOnly,
                "the store has version \"\(store.schema.version)\" of the model and must be migrated to \"\(last.type.destinationVersion)\", "
                    + "but it was opened read-only; open it once for writing, or read it with a program of its version")
        }
        try refuseLosses(steps)
        progress?.begin(steps: (progress?.current.completedSteps ?? 0) + steps.count)
        if history.backsUpFiles, steps.contains(where: \.type.isHeavyweightMigration) { try backup() }
        for step in steps {
            if progress?.isCancelled == true { throw cancelled }
            try retrying { () throws(StorageError) in try take(step) }
            progress?.stepDone()
        }
        return steps.map(\.type)
    }

    /// Repeats a step that the engine has undone for a retry, for example because the map of an LMDB store had to grow first.
    private func retrying(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        var attempts = 1
        while true {
            do throws(StorageError) {
                return try body()
            } catch  where error.code == .serializationFailure && attempts < 40 {
                attempts += 1
            }
        }
    }

    private var cancelled: StorageError {
        StorageError(.cancelled, "the migration was cancelled; the store has the version of the last completed step")
    }

    /// Copies a file to another one next to it, named after its stored version, so that a faulty step can be reverted. `run` does this
    /// before a step with custom work of the program changes the file.
    ///
    /// - Parameter keepsOlder: Whether an existing copy of that name is kept, and the new one gets a number. Otherwise it is replaced.
    /// - Returns: The URL of the copy; nil if the store is not a file.
    @discardableResult
    public func backup(keepsOlder: Bool = false) throws(StorageError) -> URL? {
        guard let local = store.ability((any LocalStorage).self) else { return nil }
        let name = local.fileURL.path + ".\(store.schema.version.fileNamePart)"
        var place = name + ".backup", number = 2
        while keepsOlder, FileManager.default.fileExists(atPath: place) {
            place = name + ".\(number).backup"
            number += 1
        }
        let fresh = "\(place).\(UUID().uuidString.prefix(8)).partial"
        try local.backup(to: URL(fileURLWithPath: fresh))
        guard rename(fresh, place) == 0 else {
            defer { unlink(fresh) }
            throw StorageError(
                .inputOutput, "the backup before the migration could not be renamed to \(place); check the folder of the store",
                cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
        }
        return URL(fileURLWithPath: place)
    }

    private func take(_ step: Step) throws(StorageError) {
        let mapping = step.mapping.schemas, wanted = Self.step(step.mapping)
        let migration = try store.beginMigration(wanted, WriteOptions(timeout: Self.timeout))
        defer { migration.end() }
        let settled = try Peers.settle(migration.source, read: peer)
        if settled != nil { StoreLogging.notice("a store has applied a transaction that a peer kept for it, before its migration") }
        try refuseLosses(step, migration.source)
        try step.stage?.run(.before, migration.source, history)
        let keys = try MigrationKeys(mapping) { root throws(StorageError) in
            try migration.source.reserveKeys(root, count: 1).lowerBound
        }
        let inverses = try NewInverses(mapping, keys, migration.source, except: wanted.writtenRoots)
        let work = try migration.prepare()
        let inPlace = Set(mapping.destination.roots).subtracting(work.roots)
        // Work of the program after the step can set what must have a value.
        let isFilledLater = step.stage?.hasWorkAfter == true
        try MigrationChecks(mapping, migration.source).check(inPlace: inPlace, exceptValues: isFilledLater)
        let rows = MigrationRows(step.mapping, keys, from: migration.source, to: migration.destination, exceptValues: isFilledLater)
        try write(work, rows, step)
        let forgotten = try ForgottenValues(
            rows.forgotten, mapping.destination, accepted: history.acceptedLosses, in: migration.source)
        if !isFilledLater { try refuse(forgotten, of: step) }
        try rows.noteLeftBehind(inPlace: inPlace)
        try migration.finish(keys, limits: rows.limits)
        try inverses.write(to: migration.destination, missing: rows.missing)
        try LeftBehind(rows.missing, migration.destination).remove()
        try RenamedReferences(mapping, migration.destination).write()
        try MigrationRecord(mapping.source).keep(in: migration.destination)
        try step.stage?.run(.after, migration.destination, history)
        if isFilledLater {
            try RequiredValues(migration.destination).check()
            try refuse(try forgotten.unassigned(in: migration.destination, below: rows.limits), of: step)
        }
        try rows.checkProblems()
        _ = try migration.commit(CommitRecord(author: "migration"))
    }

    private func write(_ work: MigrationWork, _ rows: MigrationRows, _ step: Step) throws(StorageError) {
        var total = 0, done = 0
        for root in work.roots { total += try rows.count(root) }
        let before = progress?.current.completedObjects ?? 0
        for root in work.roots.sorted() {
            try rows.write(root: root) { count throws(StorageError) in
                if progress?.isCancelled == true { throw cancelled }
                done += count
                progress?.advance(fraction: Double(done) / Double(max(total, 1)), objects: before + done)
            }
        }
        for link in work.links.sorted() { try rows.write(link: link) }
    }

    // MARK: Losses

    /// Refuses losses of later steps before the first one is run. Each step refuses its own losses when it begins.
    private func refuseLosses(_ steps: [Step]) throws(StorageError) {
        if acceptsLosses || steps.count < 2 { return }
        let reader = try store.beginRead()
        defer { reader.end() }
        for step in steps { try refuse(try losses(of: step, in: steps, reader), of: step) }
    }

    private func refuseLosses(_ step: Step, _ source: ReadSession) throws(StorageError) {
        try refuse(try MigrationLosses(step.mapping, accepted: history.acceptedLosses).stored(in: source), of: step)
    }

    /// Refuses that a transformer leaves out values which nothing says are to be lost: mostly its program forgot to copy them.
    private func refuse(_ forgotten: ForgottenValues, of step: Step) throws(StorageError) {
        let reason = "no transformer reads or assigns them\(step.stage?.hasWorkAfter == true ? ", nor does postMigration" : "")"
        try refuse(
            forgotten.paths, of: step, what: "the values of \(forgotten.paths.first ?? "")",
            remedy: "copy them with copyAttributes(from:), because \(reason)")
    }

    private func refuse(_ losses: [SchemaChange], of step: Step) throws(StorageError) {
        try refuse(
            losses.map(\.path), of: step, what: losses.first?.loss ?? "", remedy: "keep the data with a CustomSchemaMappingProvider")
    }

    private func refuse(_ paths: [String], of step: Step, what: String, remedy: String) throws(StorageError) {
        if paths.isEmpty { return }
        let list = paths.map { "\"\($0)\"" }.joined(separator: ", ")
        if acceptsLosses {
            StoreLogging.notice("the step \(step.type) loses the data of \(list), which recreateStoreOnModelMismatch accepts")
            return
        }
        throw StorageError(
            .dataLossRefused,
            "the step \(step.type) would lose \(what); accept the loss with acceptedLosses: [\(list)] of the history, or \(remedy)")
    }
}

extension String {
    /// The text with all characters replaced that are unsafe in file names.
    fileprivate var fileNamePart: String { String(map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" }) }
}

extension MigrationType {
    /// The same step as a heavyweight one, in which the program takes part.
    fileprivate var heavyweight: MigrationType { .heavyweight(sourceVersion: sourceVersion, destinationVersion: destinationVersion) }
}
