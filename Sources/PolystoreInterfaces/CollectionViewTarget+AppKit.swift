#if canImport(AppKit) && !canImport(UIKit)
public import AppKit
public import Polystore

/// A collection view as a target of a list.
@MainActor public struct CollectionViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, while it is alive; the target does not retain it.
    public private(set) weak var collectionView: NSCollectionView?

    /// Creates a target for a view.
    public init(_ collectionView: NSCollectionView) { self.collectionView = collectionView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { collectionView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) { collectionView?.reloadData() }

    /// Applies a step as one batch of the view.
    public func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void) {
        guard let collectionView else { return }
        let view = animated ? collectionView.animator() : collectionView
        view.performBatchUpdates {
            show()
            view.deleteSections(IndexSet(stage.changes.deletedSections))
            view.insertSections(IndexSet(stage.changes.insertedSections))
            for move in stage.movedSections { view.moveSection(move.from, toSection: move.to) }
            view.deleteItems(at: Set(stage.deletedItems))
            view.insertItems(at: Set(stage.insertedItems))
            view.reloadItems(at: Set(stage.changes.updated))
            for move in stage.changes.moved { view.moveItem(at: move.from, to: move.to) }
        }
    }
}
#endif
