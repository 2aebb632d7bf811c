internal import Foundation
public import Polystore
internal import Synchronization

/// CoreDataMonk's context without reading: it begins updates and reports each of their commits. Any number of them can stand beside each
/// other.
///
/// It belongs to the isolation that made it, because a main context, which is one too, holds objects. What it begins does not: any thread may
/// use the ``CoreDataUpdateContext`` of `beginUpdateContext`. Each isolation can make contexts of its own over one stack.
public class CoreDataContext {
    /// The stack.
    public final let stack: CoreDataStack
    /// Where its updates go.
    public final let updateTarget: UpdateTarget
    /// Whether its updates wait for others.
    public final let updateOrder: UpdateOrder
    private let observers = CommitObservers()

    /// A context that only updates.
    ///
    /// - Throws: `invalidConfiguration` for a target that the stack cannot give: merging needs a root context, and updates that go to a
    ///   main context need one.
    public init(stack: CoreDataStack, updateTarget: UpdateTarget = .persistentStore, updateOrder: UpdateOrder = .default)
        throws(StorageError)
    {
        self.stack = stack
        self.updateTarget = updateTarget
        self.updateOrder = updateOrder
        if stack.rootContext == .none, case .rootContext = updateTarget {
            throw StorageError(
                .invalidConfiguration, "updates go to a root context, but the stack was made with rootContext: .none; use .persistentStore")
        }
        if updateTarget == .mainContext, !(self is CoreDataMainContext) {
            throw StorageError(.invalidConfiguration, "a context without reading has no main context to update; use .persistentStore")
        }
    }

    /// Begins an update of several steps.
    public final func beginUpdateContext() -> CoreDataUpdateContext { CoreDataUpdateContext(stack, updateOrder, observers) }

    /// Runs a closure with an update, in the background, with `.serial` in the order of the calls; what it does not commit is given up when
    /// the update is let go. What it throws is reported to the logger.
    public final func beginUpdate(_ body: @escaping @Sendable (CoreDataUpdate) throws -> Void) {
        let context = beginUpdateContext()
        stack.updates(updateOrder).async {
            do { try context.perform(body) } catch {
                StoreLogging.logger.log(
                    level: .warning, message: "an update failed: \(error)", fileName: #fileID, lineNumber: #line, functionName: #function)
            }
        }
    }

    /// Runs a closure with an update and waits for it; what it does not commit is given up when the update is let go.
    public func beginUpdateAndWait(_ body: (CoreDataUpdate) throws -> Void) throws { try beginUpdateContext().run(body) }

    /// Calls a closure after each commit of this context, on the thread that committed, as long as what is returned is held.
    public final func observeCommit(_ body: @escaping @Sendable () -> Void) -> CommitObservation { observers.add(body) }
}

/// The closures that are called after the commits of a context.
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
        // What the closure holds goes away behind the lock: it may be another observation, which ends here too.
        _ = state.withLock { $0.bodies.removeValue(forKey: number) }
    }

    func didCommit() { for body in state.withLock({ $0.bodies.sorted { $0.key < $1.key }.map(\.value) }) { body() } }
}

/// An observation that ends when it is let go.
public final class CommitObservation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
}

/// CoreDataMonk's update of several steps: its changes stay in memory between them, and no store is held meanwhile.
///
/// Unchecked: the transaction is touched only by whoever holds the lock, one step at a time, and steps of others hand nothing out that is not
/// Sendable.
public final class CoreDataUpdateContext: @unchecked Sendable {
    private let transaction: UnsafeTransaction
    private let lock = NSRecursiveLock()
    /// The lock of all serial updates; nil where the update waits for no others.
    private let order: NSRecursiveLock?
    private let observers: CommitObservers

    init(_ stack: CoreDataStack, _ order: UpdateOrder, _ observers: CommitObservers) {
        transaction = stack.dataStack.beginUnsafe()
        self.order = order == .serial ? stack.serialOrder : nil
        self.observers = observers
    }

    /// Runs a step on the calling thread, after those that are running; also from a step itself, and from a call-back of it.
    ///
    /// The objects of the update stay in its steps: what leaves one is Sendable, such as an id.
    public func perform<R: Sendable>(_ body: @Sendable (CoreDataUpdate) throws -> R) throws -> R { try run(body) }

    /// The same for who has the update in one isolation.
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

/// What a step of CoreDataMonk's update works with.
public final class CoreDataUpdate: FetchSource {
    /// The update of several steps that the step is part of: what call-backs on other threads take with them.
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
        throw StorageError(.storeClosed, "the step of the update has ended; call perform on the update for another one")
    }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext { get throws(StorageError) { try open()._fetchContext } }

    /// Runs another step of the same update, such as in a call-back after this one has ended.
    public func perform<R>(_ body: (CoreDataUpdate) throws -> R) throws -> R { try context.run(body) }

    /// A new object.
    public func create<O: ManagedObject>(_ type: O.Type) throws(StorageError) -> O { try open().create(type) }

    /// The first object that satisfies a condition.
    ///
    /// - Throws: `notFound` when there is none.
    public func fetch<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>) throws(StorageError) -> O {
        if let found = try open().fetchOne(From<O>().where(condition)) { return found }
        throw StorageError(.notFound, "no \(O.self) satisfies the condition")
    }

    /// The objects of a class that satisfy a condition.
    public func fetchAll<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>? = nil) throws(StorageError) -> [O] {
        let from = From<O>()
        return try open().fetchAll(condition.map { from.where($0) } ?? from)
    }

    /// The first object that satisfies a condition, or a new one with the values that it demands.
    public func fetchOrCreate<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>) throws(StorageError) -> O {
        try open().fetchOrCreate(type, condition)
    }

    /// The update's own instance of an object of any context.
    ///
    /// - Throws: `notFound` when it no longer exists.
    public func use<O: ManagedObject>(_ object: O) throws(StorageError) -> O {
        if let own = try open().edit(object) { return own }
        throw StorageError(.notFound, "the object no longer exists")
    }

    /// Deletes an object, following its delete rules.
    public func delete(_ object: ManagedObject) throws(StorageError) { try open().delete(object) }

    /// Commits the changes of this step and of those before it.
    ///
    /// - Throws: `staleObject` when somebody else changed one of the objects meanwhile; what `UnsafeTransaction.commit` throws.
    public func commit() throws(StorageError) {
        try open().commit()
        context.didCommit()
    }
}
