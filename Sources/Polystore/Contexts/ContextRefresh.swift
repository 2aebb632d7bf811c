internal import PolystoreStorage

/// The rows of living objects that commits touched, read in one snapshot and taken over later.
struct ContextRefresh {
    private struct Part {
        let store: Int
        let root: EntityIndex
        let objects: [ManagedObject]
        let rows: RowBatch
    }

    private var parts: [Part] = []
    private let stores: Set<Int>

    init(_ batch: CommitBatch, _ context: ObjectContext) throws(StorageError) {
        stores = batch.stores
        for (store, root, live) in context.liveObjects where stores.contains(store) && !live.isEmpty {
            let objects = batch.unknown.contains(store) ? live : Self.touched(live, batch, store, root, context)
            if objects.isEmpty { continue }
            let rows = RowBatch(capacity: objects.count)
            try context.withReader(store) { reader throws(StorageError) in
                try reader.rows(root, keys: objects.map(\._key), into: rows)
            }
            parts.append(Part(store: store, root: root, objects: objects, rows: rows))
        }
    }

    /// The living objects of a hierarchy that commits changed or deleted, in the order of their keys.
    private static func touched(
        _ live: [ManagedObject], _ batch: CommitBatch, _ store: Int, _ root: EntityIndex, _ context: ObjectContext
    ) -> [ManagedObject] {
        var found: [Int64: ManagedObject] = [:]
        let map = context.identityMap(root, store)
        for run in batch.runs(in: store) where context.model.schema[run.entity].root == root {
            if run.keys.count <= live.count {
                for key in run.keys { if let object = map.find(key) { found[key] = object } }
            } else {
                for object in live where run.keys.contains(object._key) { found[object._key] = object }
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Brings the objects to their rows; those that have none are deleted.
    func apply(to context: ObjectContext) {
        // What relationships to many lead to can change without a change of the object itself.
        for (store, _, objects) in context.liveObjects where stores.contains(store) {
            for object in objects { object.forgetRelationships() }
        }
        for part in parts { context.take(part.rows, part.objects, part.root, part.store) }
    }
}
