public import Foundation

extension ListSnapshot {
    /// Returns the position of an object among all; nil if the list does not contain it. The first search traverses the list, later ones
    /// take constant time.
    public func index(of id: ObjectID<Object>) -> Int? {
        stores.item(of: id.key).flatMap { finder.position(of: $0, in: contents.items) }
    }

    /// Returns the index path of an object; nil if the list does not contain it.
    public func indexPath(of id: ObjectID<Object>) -> IndexPath? { index(of: id).map(starts.path) }

    /// Returns whether the list contains an object.
    public func contains(_ id: ObjectID<Object>) -> Bool { index(of: id) != nil }
}
