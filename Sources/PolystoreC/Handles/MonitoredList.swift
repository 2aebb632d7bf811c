internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// The list of a monitor, and the JSON of its changes.
struct MonitoredList: Sendable {
    typealias Snapshot = ListSnapshot<DynamicObject>

    /// The stack, of which the monitor is a user.
    let handle: StackHandle
    let publisher: ListPublisher<DynamicObject>
    let prefetched: [String]

    /// Returns the current list.
    func objects() throws(StorageError) -> String {
        let snapshot = publisher.snapshot
        return JSONText.array(texts(snapshot, try fetched(snapshot)))
    }

    /// Returns the JSON of an update.
    func json(_ update: ListPublisher<DynamicObject>.Update, since last: Snapshot?) -> String {
        let snapshot = update.snapshot, changes = update.changes ?? ListChanges()
        // Without the objects, for example after a lost connection, the list consists of identities; the error is logged by the fetch.
        let objects = (try? fetched(snapshot)) ?? [:], old = last ?? snapshot
        func items(_ paths: [IndexPath], of list: Snapshot) -> String {
            JSONText.array(paths.map { JSONText.object([("index", "\($0[1])")] + identity(list[$0], objects)) })
        }
        // Positions in the new list, which the updated objects of the old one have there.
        let updated = changes.updated.compactMap { snapshot.indexPath(of: old[$0]) }
        let moved = changes.moved.map { move in
            JSONText.object([("from", "\(move.from[1])"), ("index", "\(move.to[1])")] + identity(snapshot[move.to], objects))
        }
        return JSONText.object([
            ("reloaded", "\(update.changes == nil)"), ("inserted", items(changes.inserted, of: snapshot)),
            ("deleted", items(changes.deleted, of: old)), ("updated", items(updated, of: snapshot)), ("moved", JSONText.array(moved)),
            ("objects", JSONText.array(texts(snapshot, objects))),
        ])
    }

    private typealias Objects = [ObjectID<DynamicObject>: (entity: String, json: String)]

    /// Returns the objects of a list, without those that have been deleted since.
    private func fetched(_ snapshot: Snapshot) throws(StorageError) -> Objects {
        let writer = ObjectJSON(handle.stack.schema, prefetched: prefetched)
        var found: Objects = [:]
        for object in try handle.stack.fetchExisting(snapshot.itemIDs) {
            found[object.objectID] = (object.entityName, try writer.text(object))
        }
        return found
    }

    private func texts(_ snapshot: Snapshot, _ objects: Objects) -> [String] {
        snapshot.map { id in objects[id]?.json ?? JSONText.object(identity(id, objects)) }
    }

    private func identity(_ id: ObjectID<DynamicObject>, _ objects: Objects) -> ObjectJSON.Members {
        ObjectJSON.identity(objects[id]?.entity ?? id.key.root, id.key.key)
    }
}
