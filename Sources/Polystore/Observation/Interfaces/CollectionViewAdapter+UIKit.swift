// Not built by our CI

#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// Shows a list in a collection view: it is the data source of the view and leads it from one snapshot to the next.
///
/// The view does not hold its data source, so the adapter is to be kept.
@MainActor public final class CollectionViewAdapter<Object: ManagedObject>: NSObject, UICollectionViewDataSource {
    private let driver: ListTargetDriver<CollectionViewTarget<Object>>
    private let makeCell: (UICollectionView, IndexPath, ObjectID<Object>) -> UICollectionViewCell

    /// An adapter that becomes the data source of a view; `cell` makes the cell of an object.
    public init(
        _ collectionView: UICollectionView, changeLimit: Int? = nil,
        cell: @escaping (UICollectionView, IndexPath, ObjectID<Object>) -> UICollectionViewCell
    ) {
        driver = ListTargetDriver(CollectionViewTarget(collectionView), changeLimit: changeLimit)
        makeCell = cell
        super.init()
        collectionView.dataSource = self
    }

    /// What the view shows.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Has the view show a snapshot.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// The number of sections of the list.
    public func numberOfSections(in collectionView: UICollectionView) -> Int { snapshot.numberOfSections }

    /// The number of objects in a section.
    public func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int {
        snapshot.items(inSectionAt: section)?.count ?? 0
    }

    /// The cell of an object.
    public func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell {
        snapshot[safeIndexPath: indexPath].map { makeCell(collectionView, indexPath, $0) } ?? UICollectionViewCell()
    }
}

/// A collection view as what follows a list.
@MainActor public struct CollectionViewTarget<Object: ManagedObject>: @MainActor ListTarget {
    /// The view, as long as somebody else holds it.
    public private(set) weak var collectionView: UICollectionView?

    /// A view as a target.
    public init(_ collectionView: UICollectionView) { self.collectionView = collectionView }

    /// Whether the view is not on the screen.
    public var shouldSuspendBatchUpdates: Bool { collectionView?.window == nil }

    /// Reloads the view.
    public func reloadData(_ snapshot: ListSnapshot<Object>) { collectionView?.reloadData() }

    /// Makes a step as one batch of the view.
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
