#if canImport(UIKit) && !os(watchOS)
public import Polystore
public import UIKit

/// A collection view as a target of a list.
@MainActor public struct CollectionViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, while it is alive; the target does not retain it.
    public private(set) weak var collectionView: UICollectionView?

    /// Creates a target for a view.
    public init(_ collectionView: UICollectionView) { self.collectionView = collectionView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { collectionView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) { collectionView?.reloadData() }

    /// Applies a step as one batch of the view.
    public func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void) {
        guard let collectionView else { return }
        let batch = {
            collectionView.performBatchUpdates {
                show()
                collectionView.deleteSections(IndexSet(stage.changes.deletedSections))
                collectionView.insertSections(IndexSet(stage.changes.insertedSections))
                for move in stage.movedSections { collectionView.moveSection(move.from, toSection: move.to) }
                collectionView.deleteItems(at: stage.deletedItems)
                collectionView.insertItems(at: stage.insertedItems)
                collectionView.reloadItems(at: stage.changes.updated)
                for move in stage.changes.moved { collectionView.moveItem(at: move.from, to: move.to) }
            }
        }
        if animated { batch() } else { UIView.performWithoutAnimation(batch) }
    }
}
#endif
