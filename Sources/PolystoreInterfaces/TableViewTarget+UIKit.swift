#if canImport(UIKit) && !os(watchOS)
public import Polystore
public import UIKit

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
