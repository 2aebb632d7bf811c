internal import PolystoreStorage

extension ObjectContext {
    /// Brings every living object to what its store has now: a new value, or deleted where there is none.
    ///
    /// All are read before the first is changed: an error leaves every object as it was.
    /// - Parameter body: Called between the two.
    func refreshAll(_ body: () -> Void = {}) throws(StorageError) {
        var found: [(objects: [ManagedObject], root: EntityIndex, store: Int, rows: RowBatch)] = []
        // Objects of a store that was removed stay as they are.
        for (store, root, objects) in liveObjects where stack.hasStore(store) {
            found.append((objects, root, store, try rows(of: objects, root, store)))
        }
        keepingPlanned {
            body()
            for item in found { take(item.rows, item.objects, item.root, item.store) }
        }
    }

    /// Forgets what relationships to many lead to: it is found out again, from the stores and from what is pending.
    func forgetRelationships() {
        keepingPlanned { for (_, _, objects) in liveObjects { for object in objects { object.forgetRelationships() } } }
    }

    private func rows(of objects: [ManagedObject], _ root: EntityIndex, _ store: Int) throws(StorageError) -> RowBatch {
        let batch = RowBatch(capacity: objects.count)
        try withReader(store) { reader throws(StorageError) in try reader.rows(root, keys: objects.map(\._key), into: batch) }
        return batch
    }

    /// Brings every living object of a store to what is there now, after a statement that may have changed any.
    func refreshKnown(in store: Int) throws(StorageError) {
        for (place, root, objects) in liveObjects where place == store {
            let alive = objects.filter { !$0.isDeletedObject }
            try refresh(objects, root, store)
            keepKnown(objects)
            tracker?.written.gone += alive.filter(\.isDeletedObject)
        }
    }

    /// Sees to it that objects whose rows this transaction deleted stay known: they come back with their rows when a part around is undone.
    func keepKnown(_ objects: some Sequence<ManagedObject>) {
        for object in objects where object.isDeletedObject {
            let map = identityMap(object.description.root, Int(object._store))
            if map.find(object._key) == nil { map.insert(object) }
        }
    }

    /// Brings the objects with keys that are alive to what their store has now.
    func refresh(_ keys: Set<Int64>, _ root: EntityIndex, _ store: Int) throws(StorageError) {
        let map = identityMap(root, store)
        try refresh(keys.sorted().compactMap(map.find), root, store)
    }

    /// Brings objects of one hierarchy, in the order of their keys, to what their store has now.
    func refresh(_ objects: [ManagedObject], _ root: EntityIndex, _ store: Int) throws(StorageError) {
        if !objects.isEmpty { take(try rows(of: objects, root, store), objects, root, store) }
    }

    /// Brings objects of one hierarchy to their rows, both in the order of their keys; those that have none are deleted.
    func take(_ batch: RowBatch, _ objects: [ManagedObject], _ root: EntityIndex, _ store: Int) {
        var next = 0
        for object in objects {
            guard next < batch.count, batch.key(next) == object._key else {
                object._flags |= ManagedObject.Flags.deleted
                object._dirty = 0
                // Its key may be given again.
                identityMap(root, store).remove(object._key, Unmanaged.passUnretained(object).toOpaque())
                continue
            }
            object.revert(to: batch.row(next))
            next += 1
        }
    }
}

extension ObjectContext {
    /// Brings one object to what its store has now; an error is remembered.
    func refresh(_ object: ManagedObject) {
        _ = attempt { () throws(StorageError) in
            try withReader(Int(object._store)) { reader throws(StorageError) in
                let batch = RowBatch(capacity: 1)
                try reader.row(Int(object._entity), key: object._key, into: batch)
                if batch.count == 1 {
                    object.revert(to: batch.row(0))
                } else {
                    object._flags |= ManagedObject.Flags.deleted
                }
            }
        }
    }
}

extension ManagedObject {
    /// Takes over a row and forgets everything else.
    func revert(to row: borrowing RowView) {
        takeOver(row)
        _dirty = 0
        _flags &= ~(Flags.deleted | Flags.new)
    }
}
