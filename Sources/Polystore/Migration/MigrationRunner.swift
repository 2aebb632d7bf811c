public import Foundation
public import PolystoreStorage

/// Leads an open store from the version of the model that it keeps to the current one of a history, step by step.
///
/// A stack does it by itself when a store is added; this is for who has only a store.
public struct MigrationRunner {
    /// How long a step waits for other writers, in seconds.
    private static let timeout: TimeInterval = 30

    let history: SchemaHistory
    let store: OpenStore
    private let progress: MigrationProgress?
    private let mappingProviders: [any SchemaMappingProvider]
    private let isReturning: Bool
    private let peer: (UUID) throws(StorageError) -> ReadSession?

    /// A runner for a store that is open for writing, without any session.
    ///
    /// - Parameters:
    ///   - history: The versions; the store is led to the current one.
    ///   - store: The store.
    ///   - mappingProviders: What is asked about a step after the store's own providers.
    ///   - progress: Told how far it has come, and asked whether it is cancelled.
    ///   - peer: Starts to read a store that commits together with this one; nil where it is not at hand.
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

    /// A runner that leads a store back to a version that it had, following the names of both back (`SchemaMapping.init(from:backTo:)`).
    ///
    /// - Parameters:
    ///   - older: The version that the present one followed (`MigrationRecord.ancestors`).
    ///   - losses: What may be lost that is stored, by the paths of the changes.
    ///   - store: The store, open for writing, without any session.
    ///   - progress: Told how far it has come, and asked whether it is cancelled.
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

    /// One step with what it does.
    struct Step {
        let number: Int
        let type: MigrationType
        let mapping: MigrationMapping
        let stage: MigrationStage?
    }

    /// The steps from the schema that the store keeps.
    ///
    /// - Throws: `noMigrationPath` where no way leads to the current version, or a step is not decided.
    func steps() throws(StorageError) -> [Step] {
        var steps: [Step] = []
        for (source, destination) in try ways() {
            let mapping = try mapping(from: source, to: destination)
            let versions = (source.version, destination.version)
            let type: MigrationType =
                mapping.isInferred
                ? .lightweight(sourceVersion: versions.0, destinationVersion: versions.1)
                : .heavyweight(sourceVersion: versions.0, destinationVersion: versions.1)
            let stage = history.stages.first { $0.sourceVersion == versions.0 && $0.destinationVersion == versions.1 }
            steps.append(Step(number: steps.count, type: stage?.isCustom == true ? type.heavyweight : type, mapping: mapping, stage: stage))
        }
        return steps
    }

    /// A step as the store sees it: what transformers make is written by the caller.
    static func step(_ mapping: MigrationMapping) -> MigrationStep {
        let schemas = mapping.schemas
        var written: Set<EntityIndex> = []
        for (index, part) in schemas.entities.enumerated() where mapping.transformers[index] != nil {
            written.insert(schemas.destination[part.destination].root)
        }
        return MigrationStep(schemas, writtenRoots: written)
    }

    /// The schemas of each step.
    private func ways() throws(StorageError) -> [(source: Schema, destination: Schema)] {
        if isReturning { return store.schema.hash == history.currentSchema.hash ? [] : [(store.schema, history.currentSchema)] }
        try refuseReturn()
        return try history.steps(from: store.schema)
    }

    /// A program whose version the store has left is an older one: only a chain that says so leads back.
    private func refuseReturn() throws(StorageError) {
        let current = history.currentSchema
        if history.migrationChain.hasSteps || store.schema.hash == current.hash { return }
        let reader = try store.beginRead()
        defer { reader.end() }
        let before = MigrationRecord.ancestors(of: store.schema, try MigrationRecord.all(reader))
        // A new version may be as an old one was: it has another name.
        guard before.contains(where: { $0.hash == current.hash && $0.version == current.version }) else { return }
        throw StorageError(
            .noMigrationPath,
            "the store was led from version \"\(current.version)\" of the model to \"\(store.schema.version)\" by a newer program: update this one"
        )
    }

    private func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping {
        for provider in store.migrationMappingProviders + mappingProviders {
            if let mapping = try provider.mapping(from: source, to: destination) { return mapping }
        }
        let schemas = isReturning ? SchemaMapping(from: source, backTo: destination) : SchemaMapping(from: source, to: destination)
        let inferred = MigrationMapping(schemas)
        try inferred.check()
        return inferred
    }

    /// Takes all steps; the store is open with the current version then.
    ///
    /// - Returns: The steps that were taken.
    /// - Throws: `schemaMismatch` where another program was first: open the store anew and take what is left. `noMigrationPath` and
    ///   `dataLossRefused` before a step changes anything; `validationFailed` and `uniqueConstraintViolated` for objects that do not keep the
    ///   rules of the new version; `cancelled`. The store has the version before the step then.
    @discardableResult
    public func run() throws(StorageError) -> [MigrationType] {
        let steps = try steps()
        progress?.begin(steps: (progress?.current.completedSteps ?? 0) + steps.count)
        if history.backsUpFiles, steps.contains(where: \.type.isHeavyweightMigration) { try backup() }
        for step in steps {
            if progress?.isCancelled == true { throw cancelled }
            try retrying { () throws(StorageError) in try take(step) }
            progress?.stepDone()
        }
        return steps.map(\.type)
    }

    /// Runs a step again that the engine has undone so that it can run, as when the map of an LMDB store has to grow first.
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
        StorageError(.cancelled, "the migration was cancelled; the store has the version of the last step that was done")
    }

    /// Copies a file to one beside it, named by the version that it keeps: the way back where a step proves wrong. `run` does it before a
    /// step that a program has written runs over the file.
    ///
    /// - Parameter keepsOlder: Whether a copy of that name stays, and the new one gets a number; otherwise it is replaced.
    /// - Returns: The place of the copy; nil where the store is no file.
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
                .inputOutput, "the backup before the migration could not be given its name; look at the folder of the store",
                cause: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
        }
        return URL(fileURLWithPath: place)
    }

    private func take(_ step: Step) throws(StorageError) {
        let mapping = step.mapping.schemas, wanted = Self.step(step.mapping)
        let migration = try store.beginMigration(wanted, WriteOptions(timeout: Self.timeout))
        defer { migration.end() }
        let settled = try Peers.settle(migration.source, read: peer)
        if settled != nil { StoreLogging.notice("a store has taken over what a peer kept for it, before its migration") }
        try refuseLosses(step, migration.source)
        try step.stage?.run(.before, migration.source, history)
        let keys = try MigrationKeys(mapping) { root throws(StorageError) in
            try migration.source.reserveKeys(root, count: 1).lowerBound
        }
        let inverses = try NewInverses(mapping, keys, migration.source, except: wanted.writtenRoots)
        let work = try migration.prepare()
        let inPlace = Set(mapping.destination.roots).subtracting(work.roots)
        try MigrationChecks(mapping, migration.source).check(inPlace: inPlace)
        let rows = MigrationRows(step.mapping, keys, from: migration.source, to: migration.destination)
        try write(work, rows, step)
        try rows.noteLeftBehind(inPlace: inPlace)
        try migration.finish(keys, limits: rows.limits)
        try inverses.write(to: migration.destination, missing: rows.missing)
        try LeftBehind(rows.missing, migration.destination).remove()
        try RenamedReferences(mapping, migration.destination).write()
        try MigrationRecord(mapping.source).keep(in: migration.destination)
        try step.stage?.run(.after, migration.destination, history)
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

    private func refuseLosses(_ step: Step, _ source: ReadSession) throws(StorageError) {
        let losses = try MigrationLosses(step.mapping, accepted: history.acceptedLosses).stored(in: source)
        guard let first = losses.first else { return }
        let paths = losses.map { "\"\($0.path)\"" }.joined(separator: ", ")
        throw StorageError(
            .dataLossRefused,
            "the step \(step.type) would lose \(first.loss ?? ""): name what may go in the history's acceptedLosses: [\(paths)], "
                + "or keep it by a CustomSchemaMappingProvider")
    }
}

/// What a step would lose, as far as something is stored there.
struct MigrationLosses {
    let mapping: MigrationMapping
    let accepted: Set<String>

    init(_ mapping: MigrationMapping, accepted: Set<String>) {
        self.mapping = mapping
        self.accepted = accepted
    }

    func stored(in source: ReadSession) throws(StorageError) -> [SchemaChange] {
        var result: [SchemaChange] = []
        for loss in mapping.losses where !accepted.contains(loss.path) {
            if try isStored(loss, source) { result.append(loss) }
        }
        return result
    }

    /// The path of a loss has the new names, which other things had before.
    private func isStored(_ loss: SchemaChange, _ source: ReadSession) throws(StorageError) -> Bool {
        let schema = mapping.schemas.source
        guard let index = loss.formerEntity.flatMap(schema.index(of:)) else { return true }
        var plan = FetchPlan(
            entity: index, entities: loss.formerProperty == nil ? [index] : schema[index].family, fields: .keysOnly)
        if let property = loss.formerProperty, let slot = schema[index].slot(property) {
            let description = schema[index].slots[slot]
            plan.predicate = .not(
                .isNil(CheckedPath(steps: [], entity: index, leaf: .slot(slot), type: description.type, text: description.name)))
        }
        plan.limit = 1
        return try source.cursor(for: plan).next(into: RowBatch(capacity: 1))
    }
}

extension String {
    /// The text with everything that a file name could misunderstand replaced.
    fileprivate var fileNamePart: String { String(map { $0.isLetter || $0.isNumber || "._-".contains($0) ? $0 : "_" }) }
}

extension MigrationType {
    /// The same step as one that a program has a part in.
    fileprivate var heavyweight: MigrationType { .heavyweight(sourceVersion: sourceVersion, destinationVersion: destinationVersion) }
}
