public import Polystore

/// The main context of CoreDataMonk: it reads objects, keeps one instance of each, and begins updates. It is confined to the isolation in
/// which it was created.
///
/// Neither the context nor its objects are Sendable; another isolation creates its own context. `UpdateTarget` determines when the objects
/// show committed updates.
public final class CoreDataMainContext: CoreDataContext {
    let view: ViewContext

    /// Creates a context over a stack.
    ///
    /// - Parameters:
    ///   - stack: The stack.
    ///   - updateTarget: The target of updates. It determines when the objects of the context show them.
    ///   - updateOrder: Whether the context's updates wait for other updates.
    ///   - isolation: The isolation that the context belongs to, such as the main actor. In the layouts that merge automatically, commits
    ///     are merged there soon after they have ended. Without an isolation a fetch or `merge()` merges them.
    /// - Throws: `invalidConfiguration` for a target that the stack cannot support: automatic merging requires a root context.
    public init(
        stack: CoreDataStack, updateTarget: UpdateTarget = .mainContext, updateOrder: UpdateOrder = .default,
        isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) {
        let mergesItself =
            switch updateTarget {
            case .mainContext, .rootContext(autoMerge: true): true
            case .rootContext(autoMerge: false), .persistentStore: false
            }
        view = stack.dataStack.makeViewContext(merging: mergesItself ? .automatic : .onDemand)
        try super.init(stack: stack, updateTarget: updateTarget, updateOrder: updateOrder)
        view.followCommits(isolation: isolation)
    }

    /// Runs a closure with an update and waits for it.
    public override func beginUpdateAndWait(_ body: (CoreDataUpdate) throws -> Void) throws {
        try super.beginUpdateAndWait(body)
        if updateTarget == .mainContext { try view.merge() }
    }

    /// Merges committed changes into the objects.
    public func merge() throws(StorageError) { try view.merge() }

    /// Resets the context. Objects that were fetched before remain unchanged.
    public func reset() { view.reset() }
}
