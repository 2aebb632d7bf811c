public import PolystoreStorage

/// One object graph over one or more stores.
///
/// A stack is created from the classes of a model. Stores can be added and removed at any time, and the configurations determine which
/// stores hold an entity. Changes are made in transactions (`perform`). Fetches from the stack itself read the newest committed state.
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
    package let core: StackCore
    /// The known versions of the model; only the current one if the stack was created from a single version.
    public let schemaHistory: SchemaHistory
    @MainActor private var mainContext: ViewContext?

    private init(_ model: StackModel, _ history: SchemaHistory) {
        core = StackCore(model: model)
        schemaHistory = history
    }

    /// Creates a stack without stores from the given classes.
    ///
    /// - Parameters:
    ///   - models: The classes of the entities. Two stacks may have different classes for one entity name.
    ///   - configurations: Named subsets of the entities, each for a store of its own.
    ///   - version: The name of the model's version.
    /// - Throws: `invalidConfiguration`, which names the first violation of a rule for models.
    public convenience init(
        _ models: ManagedObject.Type..., configurations: [String: [String]] = [:], version: String = "1"
    ) throws(StorageError) {
        try self.init(models: models, configurations: configurations, version: version)
    }

    /// Creates a stack without stores from the given classes.
    public convenience init(
        models: [ManagedObject.Type], configurations: [String: [String]] = [:], version: String = "1"
    ) throws(StorageError) {
        let model = try StackModel(classes: models, configurations: configurations, version: version)
        self.init(model, SchemaHistory(current: model.schema, models: models))
    }

    /// Creates a stack without stores from a schema. Entities without a class among `models` use `DynamicObject`.
    public convenience init(schema: Schema, models: [ManagedObject.Type] = []) throws(StorageError) {
        try self.init(schemaHistory: SchemaHistory(current: schema, models: models))
    }

    /// Creates a stack without stores from the versions of a model. The stack uses the current version.
    ///
    /// A store with another version is refused like any other store with a different schema (`schemaMismatch`).
    public convenience init(schemaHistory: SchemaHistory) throws(StorageError) {
        do throws(SchemaError) {
            self.init(try StackModel(schema: schemaHistory.currentSchema, classes: schemaHistory.models), schemaHistory)
        } catch {
            throw StorageError(error)
        }
    }

    /// Creates a stack without stores from the versions of a model, oldest first. The stack uses the last version of the chain.
    public convenience init(
        _ schema: Schema, _ more: Schema..., migrationChain: MigrationChain = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try self.init(schemaHistory: SchemaHistory(schemas: [schema] + more, migrationChain: migrationChain, models: models))
    }

    /// A new stack without entities and stores.
    package static var withoutEntities: DataStack { DataStack(.none, SchemaHistory(current: .empty)) }

    /// The stack's read context of the main actor, created on first use.
    ///
    /// It applies commits before each fetch and in `merge()`, and soon after each commit while something observes it
    /// (`MergeTime.automatic`).
    @MainActor public var viewContext: ViewContext {
        if let mainContext { return mainContext }
        let made = makeViewContext()
        mainContext = made
        return made
    }

    /// Merges the delivered commits into `viewContext`, if it was ever used. A failure is reported, and the next merge repeats it.
    @MainActor package func mergeIntoMainContext() { _ = try? mainContext?.merge() }

    /// Creates a context for reading objects, for the isolation of the caller.
    public func makeViewContext(merging: MergeTime = .automatic) -> sending ViewContext { ViewContext(core, merging: merging) }

    /// The threads of the stack and their queues.
    package var workers: StackWorkers { core.workers }

    /// The schema of the model.
    public var schema: Schema { core.model.schema }

    /// The loading of relationships that were not prefetched. A change applies to work that begins after it.
    public var relationships: RelationshipLoading {
        get { core.relationships }
        set { core.relationships = newValue }
    }

    /// The number of rows, with the related ones, from which the stack logs a request for which more rows were read because a store could
    /// not evaluate it completely. 10,000 by default; `.max` disables the report.
    public var reportedRows: Int {
        get { core.reportedRows }
        set { core.reportedRows = newValue }
    }

    /// The instrumentation that measures or traces the stack; nil by default.
    public var instrumentation: (any StoreInstrumentation)? {
        get { core.instrumentation }
        set { core.instrumentation = newValue }
    }

    /// The duration from which a request is logged as a warning, with its shape and without its values; nil, the default, for never.
    public var slowRequest: Duration? {
        get { core.slowRequest }
        set { core.slowRequest = newValue }
    }

    /// Whether each request is logged at level `trace`, with its shape, its duration and its number of rows, and without its values; false
    /// by default.
    public var logsRequests: Bool {
        get { core.logsRequests }
        set { core.logsRequests = newValue }
    }

    /// Whether the stack keeps statistics about its requests by their form; false at first.
    ///
    /// They are kept in memory, with the values of the slowest request of each form, of which long lists are shortened and those of more
    /// than 64 KB are left out.
    public var recordsRequests: Bool {
        get { core.recordsRequests }
        set { core.recordsRequests = newValue }
    }

    /// Returns the statistics about the requests since `recordsRequests` was set, by descending total time.
    ///
    /// There are at most 1,000 forms. If there are more, those that take the least time are discarded.
    public func requestStatistics() -> [RequestStatistics] { core.requests.statistics }

    /// Whether the statistics lack requests for objects or values: those that were too large, and those of forms that were discarded or cut.
    package var lacksRequests: Bool { core.requests.lacksRequests }

    /// Discards the statistics about requests.
    public func clearRequestStatistics() { core.requests.clear() }

    /// The stores in the order in which they were added.
    public var storages: [any StorageInterface] { core.entries.map(\.entry.store.storage) }
}
