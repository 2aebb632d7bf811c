public import PolystoreStorage

/// The objects of one version of a model during a step to another version.
///
/// The context is valid only during the closure to which it is passed.
public final class MigrationContext {
    private let core: StackCore

    init(_ models: [ManagedObject.Type], _ session: WriteSession) throws(StorageError) {
        do throws(SchemaError) {
            core = StackCore(model: try StackModel(schema: session.schema, classes: models))
        } catch {
            throw StorageError(error)
        }
        let state = StorageState(
            storeID: .placeholder, schema: session.schema, formatVersion: StoreMetadata.currentFormat, wasCreated: false)
        let store = OpenStore(SessionStore(session), state)
        core.append(StackCore.Entry(store: store, entities: Set(session.schema.entities.indices)))
    }

    /// The schema of the version.
    public var schema: Schema { core.model.schema }

    /// Runs a closure that creates, changes, fetches or deletes objects. All of its changes become part of the step, or none do.
    public func perform<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
        try reportingOurs {
            try core.checkReentrancy()
            var runner = TransactionRunner(core, author: TransactionAuthor.none.name, source: nil, limit: WorkLimit())
            return try runner.run(nil, body)
        }
    }
}
