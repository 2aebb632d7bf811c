public import PolystoreStorage

/// What a program does before and after the step between two versions of its model, in the same transaction as the step.
public struct MigrationStage: Sendable {
    /// Works with the objects of one version while a step is under way.
    public typealias Work = @Sendable (MigrationContext) throws -> Void

    /// The version that the step begins with.
    public let sourceVersion: String
    /// The version that it leads to.
    public let destinationVersion: String
    /// What it is called for people.
    public let label: String
    /// The classes that stand for entities of the older version in `preMigration`; the others are `DynamicObject`s.
    public var sourceModels: [ManagedObject.Type]
    /// The classes that stand for entities of the newer version in `postMigration`.
    public var destinationModels: [ManagedObject.Type]
    private let preMigration: Work?
    private let postMigration: Work?

    /// A stage.
    ///
    /// - Parameters:
    ///   - sourceVersion: The version that the step begins with.
    ///   - destinationVersion: The version that it leads to.
    ///   - label: What it is called for people.
    ///   - sourceModels: The classes that stand for entities of the older version.
    ///   - destinationModels: The classes that stand for entities of the newer version.
    ///   - preMigration: Works with the objects of the older version before the step.
    ///   - postMigration: Works with those of the newer version after it. What either throws undoes the step.
    public init(
        from sourceVersion: String, to destinationVersion: String, label: String = "", sourceModels: [ManagedObject.Type] = [],
        destinationModels: [ManagedObject.Type] = [], preMigration: Work? = nil, postMigration: Work? = nil
    ) {
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        self.label = label
        self.sourceModels = sourceModels
        self.destinationModels = destinationModels
        self.preMigration = preMigration
        self.postMigration = postMigration
    }

    /// Whether the program has a part in the step.
    public var isCustom: Bool { preMigration != nil || postMigration != nil }

    enum Moment { case before, after }

    func run(_ moment: Moment, _ session: WriteSession, _ history: SchemaHistory) throws(StorageError) {
        let work: Work?, models: [ManagedObject.Type]
        switch moment {
        case .before: (work, models) = (preMigration, sourceModels)
        case .after:
            (work, models) = (
                postMigration,
                destinationModels.isEmpty && session.schema.version == history.currentVersion ? history.models : destinationModels
            )
        }
        guard let work else { return }
        do {
            try work(try MigrationContext(models, session))
        } catch {
            if let error = error as? StorageError { throw error }
            throw StorageError(
                .validationFailed, "the stage \"\(label)\" from version \"\(sourceVersion)\" to \"\(destinationVersion)\" failed",
                cause: error)
        }
    }
}

/// The objects of one version of a model while a step to another is under way.
///
/// It is valid while the closure runs that it was given to.
public final class MigrationContext {
    private let stack: DataStack

    init(_ models: [ManagedObject.Type], _ session: WriteSession) throws(StorageError) {
        stack = try DataStack(schema: session.schema, models: models)
        let state = StorageState(
            storeID: .placeholder, schema: session.schema, formatVersion: StoreMetadata.currentFormat, wasCreated: false)
        let store = OpenStore(SessionStore(session), state)
        stack.core.append(StackCore.Entry(store: store, entities: Set(session.schema.entities.indices)))
    }

    /// The schema of the version.
    public var schema: Schema { stack.schema }

    /// Works with the objects: creates, changes, fetches, deletes. All of it becomes part of the step, or nothing does.
    public func perform<R>(_ body: (Transaction) throws -> R) throws -> R { try stack.perform(synchronous: body) }
}

/// A store that is one session of a step: its transactions end nothing.
///
/// Unchecked: it is used by the one thread on which the step runs.
private final class SessionStore: StorageInterface, @unchecked Sendable {
    static let storeType = "migration"
    private let session: any StorageWriter
    /// Those of the store that can be used within a transaction.
    let capabilities: StorageCapabilities

    init(_ session: WriteSession) {
        self.session = session.writer
        var capabilities = session.store.capabilities
        capabilities.supported.formIntersection([.savepoints, .rawSQL])
        self.capabilities = capabilities
    }

    var configuration: String? { nil }
    func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        throw StorageError(.alreadyExists, "the store is already open")
    }
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { HeldSession(session, savepoint: nil) }
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        HeldSession(session, savepoint: try session.savepoint())
    }
    func close() throws(StorageError) {}
    func erase() throws(StorageError) { throw StorageError(.unsupported, "a store is not erased while it is migrated") }
}
