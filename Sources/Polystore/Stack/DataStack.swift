public import PolystoreStorage

/// One object graph over one or many stores.
///
/// A stack is made of the classes of a model; stores are added and removed while it runs, and each entity is routed by configuration to
/// the stores that hold it. Changes happen in transactions (`perform`); fetches from the stack itself read the newest committed state.
/// ```swift
/// let stack = try DataStack(Person.self, Dog.self)
/// try stack.addStorageAndWait(SQLiteStore(path: "pets.db"))
/// try await stack.perform { transaction in
///     let person = try transaction.create(Person.self)
///     person.name = "Ann"
/// }
/// let adults = try stack.fetchAll(From<Person>().where(\.age >= 18).orderBy(.ascending(\.name)))
/// ```
public final class DataStack: Sendable {
    let core: StackCore
    /// The versions of the model that the stack knows; only the current one, where it was made of one.
    public let schemaHistory: SchemaHistory
    @MainActor private var mainContext: ViewContext?

    private init(_ model: StackModel, _ history: SchemaHistory) {
        core = StackCore(model: model)
        schemaHistory = history
    }

    /// A stack without stores, of the given classes.
    ///
    /// - Parameters:
    ///   - models: The classes of the entities. Two stacks may have different classes for one entity name.
    ///   - configurations: Named subsets of the entities, each to be kept in a store of its own.
    ///   - version: The name of the model's version.
    /// - Throws: `invalidConfiguration` naming the first place where the model breaks a rule.
    public convenience init(
        _ models: ManagedObject.Type..., configurations: [String: [String]] = [:], version: String = "1"
    ) throws(StorageError) {
        try self.init(models: models, configurations: configurations, version: version)
    }

    /// A stack without stores, of the given classes.
    public convenience init(
        models: [ManagedObject.Type], configurations: [String: [String]] = [:], version: String = "1"
    ) throws(StorageError) {
        let model = try StackModel(classes: models, configurations: configurations, version: version)
        self.init(model, SchemaHistory(current: model.schema, models: models))
    }

    /// A stack without stores, of a schema; entities without a class among `models` are `DynamicObject`s.
    public convenience init(schema: Schema, models: [ManagedObject.Type] = []) throws(StorageError) {
        try self.init(schemaHistory: SchemaHistory(current: schema, models: models))
    }

    /// A stack without stores, of the versions of a model: it works with the current one.
    ///
    /// A store that keeps another version is refused like any other that does not fit (`schemaMismatch`).
    public convenience init(schemaHistory: SchemaHistory) throws(StorageError) {
        do throws(SchemaError) {
            self.init(try StackModel(schema: schemaHistory.currentSchema, classes: schemaHistory.models), schemaHistory)
        } catch {
            throw StorageError(error)
        }
    }

    /// A stack without stores, of the versions of a model, oldest first: it works with the last one of the chain.
    public convenience init(
        _ schema: Schema, _ more: Schema..., migrationChain: MigrationChain = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try self.init(schemaHistory: SchemaHistory(schemas: [schema] + more, migrationChain: migrationChain, models: models))
    }

    /// A stack without entities, and without stores.
    public convenience init() { self.init(.none, SchemaHistory(current: .empty)) }

    /// The main actor's context to look at objects: one for the stack, made when it is first asked for, which merges every commit.
    @MainActor public var viewContext: ViewContext {
        if let mainContext { return mainContext }
        let made = makeViewContext()
        mainContext = made
        return made
    }

    /// The threads of the stack and what waits for them.
    package var workers: StackWorkers { core.workers }

    /// The schema of the model.
    public var schema: Schema { core.model.schema }

    /// How relationships are loaded that no fetch asked for in advance; a change concerns what begins after it.
    public var relationships: RelationshipLoading {
        get { core.relationships }
        set { core.relationships = newValue }
    }

    /// From how many rows on the logger is told of an answer for which they were read, because a store did not give it by itself; 10,000 at
    /// first, `.max` for never.
    public var reportedRows: Int {
        get { core.reportedRows }
        set { core.reportedRows = newValue }
    }

    /// Who measures or traces what the stack does; nobody unless one is assigned.
    public var instrumentation: (any StoreInstrumentation)? {
        get { core.instrumentation }
        set { core.instrumentation = newValue }
    }

    /// The stores in the order in which they were added.
    public var storages: [any StorageInterface] { core.entries.map(\.entry.store.storage) }
}

/// What happens when a relationship is asked for that was not loaded.
public enum RelationshipLoading: Sendable {
    /// It is loaded then, by a look-up of its own.
    case lazy
    /// It is the error `unplannedLoad`, so that tests find look-ups in loops: load it with `From.prefetch`.
    case strict
}
