// Not compiled by the project's CI

#if canImport(AppKit) && !canImport(UIKit)
public import AppKit
public import Polystore

/// The data source and delegate of a table view that shows a list, one row for each object regardless of its section, and updates it from
/// one snapshot to the next.
///
/// The view retains neither, so the program must retain the adapter.
@MainActor public final class TableViewAdapter<Object: ManagedObject>: NSObject, NSTableViewDataSource, NSTableViewDelegate {
    private let driver: ListTargetDriver<TableViewTarget<Object>>
    private let makeView: (NSTableView, NSTableColumn?, ObjectID<Object>) -> NSView?

    /// Creates an adapter that becomes data source and delegate of a view. `view` returns the view of an object in a column.
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

    /// The shown snapshot.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Shows a snapshot in the view.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// Returns the number of objects.
    public func numberOfRows(in tableView: NSTableView) -> Int { snapshot.count }

    /// Returns the view of an object in a column.
    public func tableView(_ tableView: NSTableView, viewFor tableColumn: NSTableColumn?, row: Int) -> NSView? {
        snapshot[safeIndex: row].flatMap { makeView(tableView, tableColumn, $0) }
    }
}
#endif
