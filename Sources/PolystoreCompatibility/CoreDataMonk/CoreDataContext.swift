public import Dispatch
public import Polystore

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

    /// Calls a closure on the main actor after each commit of this context, as long as the returned observation is retained.
    ///
    /// Main contexts of the main actor can be used there: `observeCommit { self.context.reset() }`.
    public final func observeCommit(_ body: @escaping @MainActor () -> Void) -> CommitObservation {
        observeCommit(on: .main) { MainActor.assumeIsolated(body) }
    }

    /// Calls a closure after each commit of this context, as long as the returned observation is retained.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the closure is called; nil for the thread that commits, which waits for it.
    ///   - body: The closure.
    public final func observeCommit(on queue: DispatchQueue?, _ body: @escaping @Sendable () -> Void) -> CommitObservation {
        guard let queue else { return observers.add(body) }
        return observers.add { queue.async(execute: body) }
    }
}
