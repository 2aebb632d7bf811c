public import PolystoreStorage

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
