public import PolystoreFoundation
public import PolystoreObjects

/// A component that keeps a front end up to date with a query: `ListDataProvider(context: view).bind(table) { person, indexPath in … }`.
///
/// It belongs to the isolation of its context. `query` defines the shown objects, and can be called again at any time: the target receives
/// the differences between the lists.
public final class ListDataProvider<Target: ListTarget> {
    /// The class of the objects.
    public typealias Object = Target.Object

    private let context: ViewContext
    private var from = From<Object>()
    private var driver: ListTargetDriver<Target>?
    private var monitor: ListMonitor<Object>?
    private var makeItem: ((Object, IndexPath) -> Void)?

    /// Creates a provider of the objects of a context. It fetches nothing before `query` or `bind`.
    public init(context: ViewContext) { self.context = context }

    /// Shows the list in a target from now on, and keeps it up to date.
    ///
    /// - Parameters:
    ///   - target: The front end. It replaces the previous one.
    ///   - isolation: The isolation that the context belongs to.
    ///   - item: A closure called with each object to be shown or shown again, with its index path in the current list.
    /// - Returns: The provider itself.
    /// - Throws: The error of a fetch.
    @discardableResult
    public func bind(
        _ target: Target, isolation: isolated (any Actor)? = #isolation, item: @escaping (Object, IndexPath) -> Void
    ) throws(StorageError) -> ListDataProvider {
        driver = ListTargetDriver(target)
        makeItem = item
        if monitor == nil { monitor = try context.monitorList(from, isolation: isolation) }
        monitor?.addObserver(self)
        show(nil)
        return self
    }

    /// Sets the shown objects: those that satisfy a condition, in an order.
    ///
    /// - Throws: The error of a fetch. The shown objects do not change then.
    public func query(_ condition: Where<Object>? = nil, orderBy: OrderBy<Object>...) throws(StorageError) {
        var next = From<Object>()
        if let condition { next = next.where(condition) }
        for order in orderBy { next = next.orderBy(order) }
        try monitor?.refetch(next)
        from = next
    }

    /// The number of objects.
    public var numberOfObjects: Int { monitor?.numberOfObjects ?? 0 }

    /// Returns the object at an index path; nil if there is none, and before `bind`.
    public func object(at indexPath: IndexPath) -> Object? { monitor?[safe: indexPath] }

    private func show(_ changes: ListChanges?) {
        guard let monitor, let driver else { return }
        let snapshot = monitor.snapshot(updated: changes)
        let shown = driver.snapshot
        driver.apply(snapshot)
        guard let makeItem else { return }
        let difference = changes ?? snapshot.changes(from: shown)
        let paths =
            difference.inserted + difference.moved.map(\.to)
            + difference.updated.compactMap { path in
                shown[safeIndexPath: path].flatMap { snapshot.indexPath(of: $0) }
            }
        for path in Set(paths).sorted() { if let object = monitor[safe: path] { makeItem(object, path) } }
    }
}

extension ListDataProvider: ListObserver {
    /// Updates the target to the current list.
    public func listMonitorDidChange(_ monitor: ListMonitor<Object>) { show(monitor.changes) }

    /// Updates the target to the current list.
    public func listMonitorDidRefetch(_ monitor: ListMonitor<Object>) { show(nil) }
}
