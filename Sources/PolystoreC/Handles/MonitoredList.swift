internal import Foundation
internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer
internal import Synchronization

/// The list of a monitor, and the JSON of its changes.
final class MonitoredList: Sendable {
    typealias Snapshot = ListSnapshot<DynamicObject>

    /// The stack, of which the monitor is a user.
    let handle: StackHandle
    let publisher: ListPublisher<DynamicObject>
    private let prefetched: [String]
    /// The entities of the objects of the last change, by which deleted objects are named.
    private let entities = Mutex<[ObjectID<DynamicObject>: String]>([:])

    init(_ handle: StackHandle, _ publisher: ListPublisher<DynamicObject>, prefetched: [String]) {
        self.handle = handle
        self.publisher = publisher
        self.prefetched = prefetched
    }

    /// Returns the current list, without objects that were deleted meanwhile.
    func objects() throws(StorageError) -> String {
        let snapshot = publisher.snapshot, objects = try fetched(snapshot)
        return JSONText.array(snapshot.compactMap { objects[$0]?.json })
    }

    /// Returns the JSON of an update.
    func json(_ update: ListPublisher<DynamicObject>.Update, since last: Snapshot?) -> String {
        let snapshot = update.snapshot, changes = update.changes ?? ListChanges()
        let old = last ?? snapshot
        var objects: Objects = [:], failure: StorageError?
        do throws(StorageError) { objects = try fetched(snapshot) } catch { failure = error }
        let known = entities.withLock { entities in
            let before = entities
            if failure == nil { entities = objects.mapValues(\.entity) }
            return before.merging(objects.mapValues(\.entity)) { $1 }
        }
        func identity(_ id: ObjectID<DynamicObject>) -> ObjectJSON.Members { ObjectJSON.identity(known[id] ?? id.key.root, id.key.key) }
        func items(_ paths: [IndexPath], of list: Snapshot) -> String {
            JSONText.array(paths.map { JSONText.object([("index", "\($0[1])")] + identity(list[$0])) })
        }
        // Positions in the new list, which the updated objects of the old one have there.
        let updated = changes.updated.compactMap { snapshot.indexPath(of: old[$0]) }
        let moved = changes.moved.map { move in
            JSONText.object([("from", "\(move.from[1])"), ("index", "\(move.to[1])")] + identity(snapshot[move.to]))
        }
        let error = failure.map { failure in
            ("error", JSONText.object([("code", JSONText.string("\(failure.code)")), ("message", JSONText.string(failure.message))]))
        }
        return JSONText.object(
            [
                ("reloaded", "\(update.changes == nil)"), ("inserted", items(changes.inserted, of: snapshot)),
                ("deleted", items(changes.deleted, of: old)), ("updated", items(updated, of: snapshot)), ("moved", JSONText.array(moved)),
                ("objects", JSONText.array(snapshot.map { id in objects[id]?.json ?? JSONText.object(identity(id)) })),
            ] + (error.map { [$0] } ?? []))
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
}
