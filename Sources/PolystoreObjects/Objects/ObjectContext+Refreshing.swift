internal import PolystoreStorage

extension ObjectContext {
    /// Updates every living object to the current state of its store: to its values, or to deleted if it has no row.
    ///
    /// All rows are read before the first object is changed: an error leaves all objects unchanged.
    /// - Parameter body: A closure that is called between both steps.
    func refreshAll(_ body: () -> Void = {}) throws(StorageError) {
        // Objects of a removed store are left unchanged.
        var found: [Stored] = []
        for (store, root, objects) in liveObjects where stack.hasStore(store) { found.append(try stored(objects, root, store)) }
        body()
        take(found)
    }

    /// Objects of one hierarchy, sorted by key, and their rows in the store.
    private struct Stored {
        let objects: [ManagedObject]
        let root: EntityIndex
        let store: Int
        let rows: RowBatch
    }

    private func stored(_ objects: [ManagedObject], _ root: EntityIndex, _ store: Int) throws(StorageError) -> Stored {
        Stored(objects: objects, root: root, store: store, rows: try rows(of: objects, root, store))
    }

    private func take(_ found: [Stored]) { for item in found { take(item.rows, item.objects, item.root, item.store) } }

    /// Updates every living object without pending changes to the current state of its store.
    func refreshUnchanged() throws(StorageError) {
        let pending = Set(tracker?.pendingObjects.map(ObjectIdentifier.init) ?? [])
        var found: [Stored] = []
        for (store, root, objects) in liveObjects where stack.hasStore(store) {
            found.append(try stored(objects.filter { !pending.contains(ObjectIdentifier($0)) }, root, store))
        }
        take(found)
    }

    /// Discards the known destinations of to-many relationships. They are determined again from the stores and the pending changes.
    func forgetRelationships() {
        for (_, _, objects) in liveObjects { for object in objects { object.forgetRelationships() } }
    }

    private func rows(of objects: [ManagedObject], _ root: EntityIndex, _ store: Int) throws(StorageError) -> RowBatch {
        let batch = RowBatch(capacity: objects.count)
        try withReader(store) { reader throws(StorageError) in try reader.rows(root, keys: objects.map(\._key), into: batch) }
        return batch
    }

    /// Updates every living object of a store after a statement that may have changed any of them.
    func refreshKnown(in store: Int) throws(StorageError) {
        var found: [Stored] = []
        for (place, root, objects) in liveObjects where place == store { found.append(try stored(objects, root, store)) }
        let alive = found.flatMap(\.objects).filter { !$0.isDeletedObject }
        take(found)
        keepKnown(found.flatMap(\.objects))
        tracker?.written.gone += alive.filter(\.isDeletedObject)
    }

    /// Keeps objects whose rows this transaction deleted in the identity map: they reappear with their rows if an enclosing part is undone.
    func keepKnown(_ objects: some Sequence<ManagedObject>) {
        for object in objects where object.isDeletedObject {
            let map = identityMap(object.description.root, Int(object._store))
            if map.find(object._key) == nil { map.insert(object) }
        }
    }

    /// Updates the living objects with the given keys to the current state of their store.
    func refresh(_ keys: Set<Int64>, _ root: EntityIndex, _ store: Int) throws(StorageError) {
        let map = identityMap(root, store)
        try refresh(keys.sorted().compactMap(map.find), root, store)
    }

    /// Updates objects of one hierarchy, sorted by key, to the current state of their store.
    func refresh(_ objects: [ManagedObject], _ root: EntityIndex, _ store: Int) throws(StorageError) {
        if objects.isEmpty { return }
        take(try rows(of: objects, root, store), objects, root, store)
    }

    /// Updates objects of one hierarchy to their rows, both sorted by key. Objects without a row become deleted.
    func take(_ batch: RowBatch, _ objects: [ManagedObject], _ root: EntityIndex, _ store: Int) {
        var next = 0
        for object in objects {
            guard next < batch.count, batch.key(next) == object._key else {
                object._flags |= ManagedObject.Flags.deleted
                object._dirty = 0
                // The store may assign the key again.
                identityMap(root, store).remove(object._key, Unmanaged.passUnretained(object).toOpaque())
                continue
            }
            object.revert(to: batch.row(next))
            next += 1
        }
    }
}

extension ManagedObject {
    /// Replaces the values by those of a row and discards all changes.
    func revert(to row: borrowing RowView) {
        takeOver(row)
        _dirty = 0
        _flags &= ~(Flags.deleted | Flags.new)
    }
}
