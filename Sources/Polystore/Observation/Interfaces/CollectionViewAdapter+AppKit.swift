// Not compiled by the project's CI

#if canImport(AppKit) && !canImport(UIKit)
public import AppKit

/// The data source of a collection view that shows a list and updates it from one snapshot to the next.
///
/// The view does not retain its data source, so the program must retain the adapter.
@MainActor public final class CollectionViewAdapter<Object: ManagedObject>: NSObject, NSCollectionViewDataSource {
    private let driver: ListTargetDriver<CollectionViewTarget<Object>>
    private let makeItem: (NSCollectionView, IndexPath, ObjectID<Object>) -> NSCollectionViewItem

    /// Creates an adapter that becomes the data source of a view. `item` returns the item of an object.
    public init(
        _ collectionView: NSCollectionView, changeLimit: Int? = nil,
        item: @escaping (NSCollectionView, IndexPath, ObjectID<Object>) -> NSCollectionViewItem
    ) {
        driver = ListTargetDriver(CollectionViewTarget(collectionView), changeLimit: changeLimit)
        makeItem = item
        super.init()
        collectionView.dataSource = self
    }

    /// The shown snapshot.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Shows a snapshot in the view.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// Returns the number of sections of the list.
    public func numberOfSections(in collectionView: NSCollectionView) -> Int { snapshot.numberOfSections }

    /// Returns the number of objects in a section.
    public func collectionView(_ collectionView: NSCollectionView, numberOfItemsInSection section: Int) -> Int {
        snapshot.items(inSectionAt: section)?.count ?? 0
    }

    /// Returns the item of an object.
    public func collectionView(
        _ collectionView: NSCollectionView, itemForRepresentedObjectAt indexPath: IndexPath
    ) -> NSCollectionViewItem {
        snapshot[safeIndexPath: indexPath].map { makeItem(collectionView, indexPath, $0) } ?? NSCollectionViewItem()
    }
}

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
