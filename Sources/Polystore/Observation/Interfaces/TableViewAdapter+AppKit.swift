// Not built by our CI

#if canImport(AppKit) && !canImport(UIKit)
public import AppKit

/// Shows a list in a table view, a row for each object whatever its section: it is the data source and the delegate of the view and leads
/// it from one snapshot to the next.
///
/// The view holds neither, so the adapter is to be kept.
@MainActor public final class TableViewAdapter<Object: ManagedObject>: NSObject, NSTableViewDataSource, NSTableViewDelegate {
    private let driver: ListTargetDriver<TableViewTarget<Object>>
    private let makeView: (NSTableView, NSTableColumn?, ObjectID<Object>) -> NSView?

    /// An adapter that becomes data source and delegate of a view; `view` makes what an object shows in a column.
    public init(
        _ tableView: NSTableView, changeLimit: Int? = nil,
        view: @escaping (NSTableView, NSTableColumn?, ObjectID<Object>) -> NSView?
    ) {
        driver = ListTargetDriver(TableViewTarget(tableView), changeLimit: changeLimit)
        makeView = view
        super.init()
        tableView.dataSource = self
        tableView.delegate = self
    }

    /// What the view shows.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Has the view show a snapshot.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// The number of objects.
    public func numberOfRows(in tableView: NSTableView) -> Int { snapshot.count }

    /// What an object shows in a column.
    public func tableView(_ tableView: NSTableView, viewFor tableColumn: NSTableColumn?, row: Int) -> NSView? {
        snapshot[safeIndex: row].flatMap { makeView(tableView, tableColumn, $0) }
    }
}

/// A table view as what follows a list.
@MainActor public final class TableViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, as long as somebody else holds it.
    public private(set) weak var tableView: NSTableView?
    private var shown = ListSnapshot<Object>()

    /// A view as a target.
    public init(_ tableView: NSTableView) { self.tableView = tableView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { tableView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) {
        shown = snapshot
        tableView?.reloadData()
    }

    /// Makes a step as one batch of the view. The view makes changes one after the other, so what moves is taken out and put in.
    public func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void) {
        let difference = stage.snapshot.difference(from: shown)
        let updated = IndexSet(stage.changes.updated.compactMap { shown[safeIndexPath: $0] }.compactMap(stage.snapshot.index))
        shown = stage.snapshot
        guard let tableView else { return }
        let animation: NSTableView.AnimationOptions = animated ? .effectFade : []
        tableView.beginUpdates()
        show()
        tableView.removeRows(at: IndexSet(difference.removals.map(Self.offset)), withAnimation: animation)
        tableView.insertRows(at: IndexSet(difference.insertions.map(Self.offset)), withAnimation: animation)
        tableView.reloadData(forRowIndexes: updated, columnIndexes: IndexSet(0..<tableView.numberOfColumns))
        tableView.endUpdates()
    }

    private static func offset(_ change: CollectionDifference<ObjectID<Object>>.Change) -> Int {
        switch change {
        case .insert(let offset, _, _), .remove(let offset, _, _): offset
        }
    }
}
#endif
