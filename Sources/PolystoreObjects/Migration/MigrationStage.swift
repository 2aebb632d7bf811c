internal import PolystoreStorage

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
    ///   - postMigration: Work with the objects of the newer version after the step. Afterwards all objects must have values for their required
    ///     properties, which the work may set: also of a property that is new and has no default. An attribute of both versions that a
    ///     transformer leaves out counts as lost unless the work assigns it a value other than its default in an object of the step, or the
    ///     history accepts the loss by name. An error of either closure undoes the step.
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

    /// Whether the stage contains work after the step.
    var hasWorkAfter: Bool { postMigration != nil }

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
