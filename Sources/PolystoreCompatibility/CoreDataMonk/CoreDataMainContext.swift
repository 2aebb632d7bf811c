public import Polystore

/// CoreDataMonk's main context: it reads, keeps identity, and begins updates. It belongs to the isolation that made it.
///
/// It is not Sendable, as what it holds: another isolation makes one of its own. `UpdateTarget` says when its objects show what updates commit.
public final class CoreDataMainContext: CoreDataContext {
    let view: ViewContext

    /// A context over a stack.
    ///
    /// - Throws: `invalidConfiguration` for a target that the stack cannot give: merging by itself needs a root context.
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

    /// The first object that satisfies a condition.
    ///
    /// - Throws: `notFound` when there is none.
    public func fetch<O: ManagedObject>(_ type: O.Type, _ condition: Where<O>) throws(StorageError) -> O {
        if let found = try view.fetchOne(From<O>().where(condition)) { return found }
        throw StorageError(.notFound, "no \(O.self) satisfies the condition")
    }

    /// The objects of a class that satisfy a condition, in an order.
    public func fetchAll<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil
    ) throws(StorageError) -> [O] {
        var from = From<O>()
        if let condition { from = from.where(condition) }
        if let orderBy { from = from.orderBy(orderBy) }
        return try view.fetchAll(from)
    }

    /// Brings the objects to what was committed.
    public func merge() throws(StorageError) { try view.merge() }

    /// Begins anew: what was fetched before stays as it is.
    public func reset() { view.reset() }
}
