public import PolystoreStorage

/// The work of a program before and after the step between two versions of its model, in the same transaction as the step.
public struct MigrationStage: Sendable {
    /// A closure that works with the objects of one version during a step.
    public typealias Work = @Sendable (MigrationContext) throws -> Void

    /// The version before the step.
    public let sourceVersion: String
    /// The version after the step.
    public let destinationVersion: String
    /// A label for people.
    public let label: String
    /// The classes for entities of the older version in `preMigration`. Other entities use `DynamicObject`.
    public var sourceModels: [ManagedObject.Type]
    /// The classes for entities of the newer version in `postMigration`.
    public var destinationModels: [ManagedObject.Type]
    private let preMigration: Work?
    private let postMigration: Work?

    /// Creates a stage.
    ///
    /// - Parameters:
    ///   - sourceVersion: The version before the step.
    ///   - destinationVersion: The version after the step.
    ///   - label: A label for people.
    ///   - sourceModels: The classes for entities of the older version.
    ///   - destinationModels: The classes for entities of the newer version.
    ///   - preMigration: Work with the objects of the older version before the step.
    ///   - postMigration: Work with the objects of the newer version after the step. An error of either closure undoes the step.
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

    /// Whether the stage contains work of the program.
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

/// The objects of one version of a model during a step to another version.
///
/// The context is valid only during the closure to which it is passed.
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

    /// Runs a closure that creates, changes, fetches or deletes objects. All of its changes become part of the step, or none do.
    public func perform<R>(_ body: (WriteTransaction) throws -> R) throws -> R { try stack.perform(synchronous: body) }
}

/// A store over one session of a step. Its transactions do not end the session.
///
/// Unchecked, because only the thread of the step uses it.
private final class SessionStore: StorageInterface, @unchecked Sendable {
    static let storeType = "migration"
    private let session: any StorageWriter
    /// The capabilities of the store that are usable within a transaction.
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
    func erase() throws(StorageError) { throw StorageError(.unsupported, "a store cannot be erased during its migration") }
}
