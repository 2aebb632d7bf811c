public import Foundation

extension ListSnapshot {
    /// Where an object is among all; nil if it is not in the list. The first search goes through the list, each other takes a moment.
    public func index(of id: ObjectID<Object>) -> Int? {
        stores.item(of: id.key).flatMap { finder.position(of: $0, in: contents.items) }
    }

    /// Where an object is in the sections; nil if it is not in the list.
    public func indexPath(of id: ObjectID<Object>) -> IndexPath? { index(of: id).map(starts.path) }

    /// Whether an object is in the list.
    public func contains(_ id: ObjectID<Object>) -> Bool { index(of: id) != nil }
}
