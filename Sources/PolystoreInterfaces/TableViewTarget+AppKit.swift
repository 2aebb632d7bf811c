#if canImport(AppKit) && !canImport(UIKit)
public import AppKit
public import Polystore

/// A table view as a target of a list.
@MainActor public final class TableViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, while it is alive; the target does not retain it.
    public private(set) weak var tableView: NSTableView?
    private var shown = ListSnapshot<Object>()

    /// Creates a target for a view.
    public init(_ tableView: NSTableView) { self.tableView = tableView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { tableView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) {
        shown = snapshot
        tableView?.reloadData()
    }

    /// Applies a step as one batch of the view. The view applies changes one after the other, so a move is a removal and an insertion.
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
