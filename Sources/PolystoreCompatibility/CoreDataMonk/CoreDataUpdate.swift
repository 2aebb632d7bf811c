internal import Foundation
public import Polystore
internal import Synchronization

/// The update as a step of CoreDataMonk uses it.
public final class CoreDataUpdate: FetchSource {
    /// The update of several steps to which the step belongs. Callbacks on other threads use it.
    public let context: CoreDataUpdateContext
    private let transaction: UnsafeTransaction
    private var isOpen = true

    init(_ context: CoreDataUpdateContext, _ transaction: UnsafeTransaction) {
        self.context = context
        self.transaction = transaction
    }

    func end() { isOpen = false }

    private func open() throws(StorageError) -> UnsafeTransaction {
        if isOpen { return transaction }
        throw StorageError(.storeClosed, "the step of the update has ended; call perform on the update for another step")
    }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext { get throws(StorageError) { try open()._fetchContext } }

    /// Runs another step of the same update, for example in a callback after this step has ended.
    public func perform<R>(_ body: (CoreDataUpdate) throws -> R) throws -> R { try context.run(body) }

    /// Creates an object.
    public func create<O: ManagedObject>(_ type: O.Type) throws(StorageError) -> O { try open().create(type) }

    /// Returns the first object that satisfies a condition.
    ///
    /// - Throws: `notFound` if there is none.
    public func fetch<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>, options: FetchOptions? = nil
    ) throws(StorageError) -> O {
        if let found = try open().fetchOne(From(condition, options: options)) { return found }
        throw StorageError(.notFound, "no \(O.self) satisfies the condition")
    }

    /// Returns the objects of a class that satisfy a condition, in an order, with options.
    public func fetchAll<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, options: FetchOptions? = nil
    ) throws(StorageError) -> [O] {
        try open().fetchAll(From(condition, orderBy: orderBy, options: options))
    }

    /// Returns the first object that satisfies a condition, or creates one with the values that the condition requires.
    public func fetchOrCreate<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>) throws(StorageError) -> O {
        try open().fetchOrCreate(type, condition)
    }

    /// Returns the update's own instance of an object of any context.
    ///
    /// - Throws: `notFound` if the object no longer exists.
    public func use<O: ManagedObject>(_ object: O) throws(StorageError) -> O {
        if let own = try open().edit(object) { return own }
        throw StorageError(.notFound, "\(type(of: object)) \(object._key) no longer exists")
    }

    /// Returns the update's own instance of the object that an id, a snapshot or a publisher represents.
    ///
    /// These can be sent to the closure of `beginUpdate`, an object cannot: `update.use(id)` with `let id = warrior.objectID`.
    /// - Throws: `notFound` if the object no longer exists.
    public func use<O: ManagedObject>(_ representation: some ObjectRepresentation<O>) throws(StorageError) -> O {
        if let own = try open().edit(representation) { return own }
        let key = representation.objectID.key
        throw StorageError(.notFound, "\(O.self) \(key.key) no longer exists", details: .init(entity: key.root, keys: [key.key]))
    }

    /// Deletes an object, following its delete rules.
    public func delete(_ object: ManagedObject) throws(StorageError) { try open().delete(object) }

    /// Commits the changes of this step and of those before it.
    ///
    /// - Throws: `staleObject` if another transaction changed one of the objects meanwhile; the errors of `UnsafeTransaction.commit`.
    public func commit() throws(StorageError) {
        try open().commit()
        context.didCommit()
    }
}
