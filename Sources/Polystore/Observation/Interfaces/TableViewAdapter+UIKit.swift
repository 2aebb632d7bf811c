// Not compiled by the project's CI

#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// The data source of a table view that shows a list and updates it from one snapshot to the next.
///
/// The view does not retain its data source, so the program must retain the adapter.
@MainActor public final class TableViewAdapter<Object: ManagedObject>: NSObject, UITableViewDataSource {
    private let driver: ListTargetDriver<TableViewTarget<Object>>
    private let makeCell: (UITableView, IndexPath, ObjectID<Object>) -> UITableViewCell

    /// Creates an adapter that becomes the data source of a view. `cell` returns the cell of an object.
    public init(
        _ tableView: UITableView, changeLimit: Int? = nil,
        cell: @escaping (UITableView, IndexPath, ObjectID<Object>) -> UITableViewCell
    ) {
        driver = ListTargetDriver(TableViewTarget(tableView), changeLimit: changeLimit)
        makeCell = cell
        super.init()
        tableView.dataSource = self
    }

    /// The shown snapshot.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Shows a snapshot in the view.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// Returns the number of sections of the list.
    public func numberOfSections(in tableView: UITableView) -> Int { snapshot.numberOfSections }

    /// Returns the number of objects in a section.
    public func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
        snapshot.items(inSectionAt: section)?.count ?? 0
    }

    /// Returns the name of a section; nil for a list without sections.
    public func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? {
        snapshot.items(inSectionAt: section).flatMap { $0.name.isEmpty ? nil : $0.name }
    }

    /// Returns the cell of an object.
    public func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        snapshot[safeIndexPath: indexPath].map { makeCell(tableView, indexPath, $0) } ?? UITableViewCell()
    }
}

/// A table view as a target of a list.
@MainActor public struct TableViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, while it is alive; the target does not retain it.
    public private(set) weak var tableView: UITableView?

    /// Creates a target for a view.
    public init(_ tableView: UITableView) { self.tableView = tableView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { tableView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) { tableView?.reloadData() }

    /// Applies a step as one batch of the view.
    public func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void) {
        guard let tableView else { return }
        let animation: UITableView.RowAnimation = animated ? .automatic : .none
        tableView.performBatchUpdates {
            show()
            tableView.deleteSections(IndexSet(stage.changes.deletedSections), with: animation)
            tableView.insertSections(IndexSet(stage.changes.insertedSections), with: animation)
            for move in stage.movedSections { tableView.moveSection(move.from, toSection: move.to) }
            tableView.deleteRows(at: stage.deletedItems, with: animation)
            tableView.insertRows(at: stage.insertedItems, with: animation)
            tableView.reloadRows(at: stage.changes.updated, with: animation)
            for move in stage.changes.moved { tableView.moveRow(at: move.from, to: move.to) }
        }
    }
}
#endif
