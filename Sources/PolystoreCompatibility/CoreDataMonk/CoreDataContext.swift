internal import Foundation
public import Polystore
internal import Synchronization

/// The context of CoreDataMonk that does not read objects: it begins updates and reports each of their commits. Any number of contexts can
/// coexist.
///
/// A context is confined to the isolation in which it was created, because a main context, which is a subclass, holds objects. The updates
/// that it begins are not confined: any thread may use the ``CoreDataUpdateContext`` that `beginUpdateContext` returns. Each isolation can
/// create its own contexts over one stack.
public class CoreDataContext {
    /// The stack of the context.
    public final let stack: CoreDataStack
    /// The target of the context's updates.
    public final let updateTarget: UpdateTarget
    /// Whether the context's updates wait for other updates.
    public final let updateOrder: UpdateOrder
    private let observers = CommitObservers()

    /// Creates a context that only updates.
    ///
    /// - Throws: `invalidConfiguration` for a target that the stack cannot support: merging requires a root context, and updates with the
    ///   main context as their target require a main context.
    public init(stack: CoreDataStack, updateTarget: UpdateTarget = .persistentStore, updateOrder: UpdateOrder = .default)
        throws(StorageError)
    {
        self.stack = stack
        self.updateTarget = updateTarget
        self.updateOrder = updateOrder
        if stack.rootContext == .none, case .rootContext = updateTarget {
            throw StorageError(
                .invalidConfiguration,
                "the update target is a root context, but the stack was created with rootContext: .none; use .persistentStore")
        }
        if updateTarget == .mainContext, !(self is CoreDataMainContext) {
            throw StorageError(.invalidConfiguration, "only a CoreDataMainContext can update a main context; use .persistentStore")
        }
    }

    /// Begins an update of several steps.
    public final func beginUpdateContext() -> CoreDataUpdateContext { CoreDataUpdateContext(stack, updateOrder, observers) }

    /// Runs a closure with an update in the background; with `.serial`, in the order of the calls. Uncommitted changes are discarded when
    /// the update is released. Errors are reported to the logger.
    public final func beginUpdate(_ body: @escaping @Sendable (CoreDataUpdate) throws -> Void) {
        let context = beginUpdateContext()
        stack.updates(updateOrder).async {
            do { try context.perform(body) } catch {
                StoreLogging.logger.log(
                    level: .warning, message: "an update failed: \(error)", fileName: #fileID, lineNumber: #line, functionName: #function)
            }
        }
    }

    /// Runs a closure with an update and waits for it. Uncommitted changes are discarded when the update is released.
    public func beginUpdateAndWait(_ body: (CoreDataUpdate) throws -> Void) throws { try beginUpdateContext().run(body) }

    /// Calls a closure after each commit of this context, on the thread that committed, as long as the returned observation is retained.
    public final func observeCommit(_ body: @escaping @Sendable () -> Void) -> CommitObservation { observers.add(body) }
}

/// The closures to call after the commits of a context.
final class CommitObservers: Sendable {
    private struct State: Sendable {
        var next = 0
        var bodies: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    func add(_ body: @escaping @Sendable () -> Void) -> CommitObservation {
        let number = state.withLock { state in
            state.next += 1
            state.bodies[state.next] = body
            return state.next
        }
        return CommitObservation { [weak self] in self?.remove(number) }
    }

    private func remove(_ number: Int) {
        // The closure is released outside the lock: it may hold another observation, which ends in this method as well.
        _ = state.withLock { $0.bodies.removeValue(forKey: number) }
    }

    func didCommit() { for body in state.withLock({ $0.bodies.sorted { $0.key < $1.key }.map(\.value) }) { body() } }
}

/// An observation that ends when it is released.
public final class CommitObservation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}

/// An update of CoreDataMonk with several steps. Its changes remain in memory between the steps, and no store is locked meanwhile.
///
/// Unchecked: only the thread that holds the lock accesses the transaction, one step at a time, and steps on other threads return only
/// Sendable values.
public final class CoreDataUpdateContext: @unchecked Sendable {
    private let transaction: UnsafeTransaction
    private let lock = NSRecursiveLock()
    /// The lock of all serial updates, or nil if the update does not wait for others.
    private let order: NSRecursiveLock?
    private let observers: CommitObservers

    init(_ stack: CoreDataStack, _ order: UpdateOrder, _ observers: CommitObservers) {
        transaction = stack.dataStack.beginUnsafe()
        self.order = order == .serial ? stack.serialOrder : nil
        self.observers = observers
    }

    /// Runs a step on the calling thread, after the steps that are running. It may also be called in a step, or in a callback of a step.
    ///
    /// The objects of the update are confined to its steps. Values that leave a step must be Sendable, such as an id.
    public func perform<R: Sendable>(_ body: @Sendable (CoreDataUpdate) throws -> R) throws -> R { try run(body) }

    /// Runs a step for a caller that uses the update in a single isolation.
    fileprivate func run<R>(_ body: (CoreDataUpdate) throws -> R) throws -> R {
        order?.lock()
        defer { order?.unlock() }
        lock.lock()
        defer { lock.unlock() }
        let update = CoreDataUpdate(self, transaction)
        defer { update.end() }
        return try body(update)
    }

    fileprivate func didCommit() { observers.didCommit() }
}

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

    fileprivate func end() { isOpen = false }

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
    public func fetch<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>) throws(StorageError) -> O {
        if let found = try open().fetchOne(From<O>().where(condition)) { return found }
        throw StorageError(.notFound, "no \(O.self) satisfies the condition")
    }

    /// Returns the objects of a class that satisfy a condition.
    public func fetchAll<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>? = nil) throws(StorageError) -> [O] {
        let from = From<O>()
        return try open().fetchAll(condition.map { from.where($0) } ?? from)
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
