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
    /// - Throws: `invalidConfiguration` for a target that the stack cannot support: automatic merging requires a root context.
    public override init(
        stack: CoreDataStack, updateTarget: UpdateTarget = .mainContext, updateOrder: UpdateOrder = .default
    ) throws(StorageError) {
        let mergesItself =
            switch updateTarget {
            case .mainContext, .rootContext(autoMerge: true): true
            case .rootContext(autoMerge: false), .persistentStore: false
            }
        view = stack.dataStack.makeViewContext(merging: mergesItself ? .automatic : .onDemand)
        try super.init(stack: stack, updateTarget: updateTarget, updateOrder: updateOrder)
    }

    /// Runs a closure with an update and waits for it.
    public override func beginUpdateAndWait(_ body: (CoreDataUpdate) throws -> Void) throws {
        try super.beginUpdateAndWait(body)
        if updateTarget == .mainContext { try view.merge() }
    }

    /// Returns the first object that satisfies a condition.
    ///
    /// - Throws: `notFound` if there is none.
    public func fetch<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>) throws(StorageError) -> O {
        if let found = try view.fetchOne(From<O>().where(condition)) { return found }
        throw StorageError(.notFound, "no \(O.self) satisfies the condition")
    }

    /// Returns the objects of a class that satisfy a condition, in an order.
    public func fetchAll<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil
    ) throws(StorageError) -> [O] {
        var from = From<O>()
        if let condition { from = from.where(condition) }
        if let orderBy { from = from.orderBy(orderBy) }
        return try view.fetchAll(from)
    }

    /// Merges committed changes into the objects.
    public func merge() throws(StorageError) { try view.merge() }

    /// Resets the context. Objects that were fetched before remain unchanged.
    public func reset() { view.reset() }
}
