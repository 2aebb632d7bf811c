// Not compiled by the project's CI

#if canImport(AppKit) && !canImport(UIKit)
public import AppKit
public import Polystore

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
#endif
