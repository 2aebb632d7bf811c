// Not built by our CI

#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// Shows a list in a table view: it is the data source of the view and leads it from one snapshot to the next.
///
/// The view does not hold its data source, so the adapter is to be kept.
@MainActor public final class TableViewAdapter<Object: ManagedObject>: NSObject, UITableViewDataSource {
    private let driver: ListTargetDriver<TableViewTarget<Object>>
    private let makeCell: (UITableView, IndexPath, ObjectID<Object>) -> UITableViewCell

    /// An adapter that becomes the data source of a view; `cell` makes the cell of an object.
    public init(
        _ tableView: UITableView, changeLimit: Int? = nil,
        cell: @escaping (UITableView, IndexPath, ObjectID<Object>) -> UITableViewCell
    ) {
        driver = ListTargetDriver(TableViewTarget(tableView), changeLimit: changeLimit)
        makeCell = cell
        super.init()
        tableView.dataSource = self
    }

    /// What the view shows.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Has the view show a snapshot.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// The number of sections of the list.
    public func numberOfSections(in tableView: UITableView) -> Int { snapshot.numberOfSections }

    /// The number of objects in a section.
    public func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int {
        snapshot.items(inSectionAt: section)?.count ?? 0
    }

    /// The name of a section; none for a list without sections.
    public func tableView(_ tableView: UITableView, titleForHeaderInSection section: Int) -> String? {
        snapshot.items(inSectionAt: section).flatMap { $0.name.isEmpty ? nil : $0.name }
    }

    /// The cell of an object.
    public func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
        snapshot[safeIndexPath: indexPath].map { makeCell(tableView, indexPath, $0) } ?? UITableViewCell()
    }
}

/// A table view as what follows a list.
@MainActor public struct TableViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, as long as somebody else holds it.
    public private(set) weak var tableView: UITableView?

    /// A view as a target.
    public init(_ tableView: UITableView) { self.tableView = tableView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { tableView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) { tableView?.reloadData() }

    /// Makes a step as one batch of the view.
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
