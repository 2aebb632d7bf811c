// Not compiled by the project's CI

#if canImport(UIKit) && !os(watchOS)
public import Polystore
public import UIKit

/// The data source of a collection view that shows a list and updates it from one snapshot to the next.
///
/// The view does not retain its data source, so the program must retain the adapter.
@MainActor public final class CollectionViewAdapter<Object: ManagedObject>: NSObject, UICollectionViewDataSource {
    private let driver: ListTargetDriver<CollectionViewTarget<Object>>
    private let makeCell: (UICollectionView, IndexPath, ObjectID<Object>) -> UICollectionViewCell

    /// Creates an adapter that becomes the data source of a view. `cell` returns the cell of an object.
    public init(
        _ collectionView: UICollectionView, changeLimit: Int? = nil,
        cell: @escaping (UICollectionView, IndexPath, ObjectID<Object>) -> UICollectionViewCell
    ) {
        driver = ListTargetDriver(CollectionViewTarget(collectionView), changeLimit: changeLimit)
        makeCell = cell
        super.init()
        collectionView.dataSource = self
    }

    /// The shown snapshot.
    public var snapshot: ListSnapshot<Object> { driver.snapshot }

    /// Shows a snapshot in the view.
    public func apply(_ snapshot: ListSnapshot<Object>, animated: Bool = true) { driver.apply(snapshot, animated: animated) }

    /// Returns the number of sections of the list.
    public func numberOfSections(in collectionView: UICollectionView) -> Int { snapshot.numberOfSections }

    /// Returns the number of objects in a section.
    public func collectionView(_ collectionView: UICollectionView, numberOfItemsInSection section: Int) -> Int {
        snapshot.items(inSectionAt: section)?.count ?? 0
    }

    /// Returns the cell of an object.
    public func collectionView(_ collectionView: UICollectionView, cellForItemAt indexPath: IndexPath) -> UICollectionViewCell {
        snapshot[safeIndexPath: indexPath].map { makeCell(collectionView, indexPath, $0) } ?? UICollectionViewCell()
    }
}
#endif
