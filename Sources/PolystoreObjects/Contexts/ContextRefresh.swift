internal import PolystoreStorage

/// The rows of live objects that commits touched, read in one snapshot and applied later.
struct ContextRefresh {
    private struct Part {
        let store: Int
        let root: EntityIndex
        let objects: [ManagedObject]
        let rows: RowBatch
    }

    private var parts: [Part] = []
    private var stores: Set<Int>
    /// The objects whose values will change.
    private(set) var stale = StaleObjects()

    /// Reads the rows.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - context: The context of the objects.
    ///   - sessions: The snapshot in which they are read.
    ///   - unread: Stores to skip. Stores that cannot be read are added.
    init(_ batch: CommitBatch, _ context: ObjectContext, _ sessions: SessionPool, _ unread: inout UnreadStores) {
        // Objects of a removed store do not change.
        stores = batch.stores.filter { context.stack.hasStore($0) }
        for (store, root, map) in context.livePlaces where stores.contains(store) && map.most > 0 && unread[store] == nil {
            let objects = batch.unknown.contains(store) ? map.objects : Self.touched(map, batch, store, root, context)
            if objects.isEmpty { continue }
            let rows = RowBatch(capacity: objects.count)
            do throws(StorageError) {
                try sessions.reader(store).rows(root, keys: objects.map(\._key), into: rows)
            } catch {
                unread[store] = error
                continue
            }
            parts.append(Part(store: store, root: root, objects: objects, rows: rows))
            stale.add(objects, rows, root, store)
        }
        leaveOut(unread)
    }

    /// Excludes the objects of stores from the refresh.
    mutating func leaveOut(_ unread: UnreadStores) {
        parts.removeAll { unread[$0.store] != nil }
        stores.subtract(unread.keys)
    }

    /// Returns the differences between live objects and their rows as changes of their stores. Objects without differences are omitted.
    func changes() -> [(store: Int, changes: HistoryChanges)] {
        var changes: [Int: [HistoryChange]] = [:]
        for part in parts {
            let versions = StaleObjects.versions(part.rows)
            for object in part.objects where versions[object._key] != object._version {
                let slots = SlotMask(all: object.description.slots.count)
                let kind = versions[object._key] == nil ? HistoryChange.Kind.delete : .update(slots)
                changes[part.store, default: []].append(HistoryChange(entity: Int(object._entity), key: object._key, kind: kind))
            }
        }
        return stores.sorted().map { ($0, HistoryChanges(changes[$0] ?? [])) }
    }

    /// Returns the live objects of a hierarchy that commits changed or deleted, in the order of their keys.
    private static func touched(
        _ map: IdentityMap, _ batch: CommitBatch, _ store: Int, _ root: EntityIndex, _ context: ObjectContext
    ) -> [ManagedObject] {
        var found: [Int64: ManagedObject] = [:], live: [ManagedObject]?
        for run in batch.runs(in: store) where context.model.schema[run.entity].root == root {
            if run.keys.count <= map.most {
                for key in run.keys { if let object = map.find(key) { found[key] = object } }
            } else {
                let all = live ?? map.unsortedObjects
                live = all
                for object in all where run.keys.contains(object._key) { found[object._key] = object }
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Updates the objects to their rows. Objects without a row become deleted.
    func apply(to context: ObjectContext) {
        // The destinations of to-many relationships can change without a change of the object itself.
        for (store, _, map) in context.livePlaces where stores.contains(store) {
            for object in map.unsortedObjects { object.forgetRelationships() }
        }
        for part in parts { context.take(part.rows, part.objects, part.root, part.store) }
    }
}
