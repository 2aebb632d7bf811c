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
    @MainActor private var mainContext: ViewContext?

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
    public init(
        models: [ManagedObject.Type], configurations: [String: [String]] = [:], version: String = "1"
    ) throws(StorageError) {
        core = StackCore(model: try StackModel(classes: models, configurations: configurations, version: version))
    }

    /// A stack without stores, of a schema; entities without a class among `models` are `DynamicObject`s.
    public init(schema: Schema, models: [ManagedObject.Type] = []) throws(StorageError) {
        do throws(SchemaError) {
            core = StackCore(model: try StackModel(schema: schema, classes: models))
        } catch {
            throw StorageError(error)
        }
    }

    /// A stack without entities, and without stores.
    public init() { core = StackCore(model: .none) }

    /// The main actor's context to look at objects: one for the stack, made when it is first asked for, which merges every commit.
    @MainActor public var viewContext: ViewContext {
        if let mainContext { return mainContext }
        let made = makeViewContext()
        mainContext = made
        return made
    }

    /// The schema of the model.
    public var schema: Schema { core.model.schema }

    /// How relationships are loaded that no fetch asked for in advance; a change concerns what begins after it.
    public var relationships: RelationshipLoading {
        get { core.relationships }
        set { core.relationships = newValue }
    }

    /// Who measures or traces what the stack does; nobody unless one is assigned.
    public var instrumentation: (any StoreInstrumentation)? {
        get { core.instrumentation }
        set { core.instrumentation = newValue }
    }

    /// The stores in the order in which they were added.
    public var storages: [any StorageInterface] { core.entries.map(\.entry.store) }
}

/// What happens when a relationship is asked for that was not loaded.
public enum RelationshipLoading: Sendable {
    /// It is loaded then, by a look-up of its own.
    case lazy
    /// It is the error `unplannedLoad`, so that tests find look-ups in loops: load it with `From.prefetch`.
    case strict
}
