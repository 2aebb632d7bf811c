internal import PolystoreStorage

extension ObjectContext {
    /// Returns the destination of a reference; nil without a reference, and if the destination does not exist.
    func referenced(_ object: ManagedObject, _ slot: Int) throws(StorageError) -> ManagedObject? {
        guard let key = object.referenceKey(slot), let store = stack.position(of: key.store),
            let root = model.schema.index(of: key.root)
        else { return nil }
        return try self.object(root, key.key, store)
    }

    /// Returns the objects whose reference has one of the given destinations.
    func referrers(_ attribute: ReferenceAttribute, to objects: [ManagedObject]) throws(StorageError) -> [ManagedObject] {
        // Nothing in the stores can reference an object that was not written yet, so it can be deleted even if it cannot be written.
        let new = Set(objects.filter(\.isNew).map(objectKey))
        let pending =
            new.isEmpty ? [] : pendingObjects(of: attribute.entity).filter { $0.referenceKey(attribute.slot).map(new.contains) ?? false }
        return try pending + storedReferrers(attribute, to: objects.filter { !$0.isNew })
    }

    private func pendingObjects(of entity: EntityIndex) -> [ManagedObject] {
        let family = model.schema[entity].family
        return tracker?.pendingObjects.filter { !$0.isDeletedObject && family.contains(Int($0._entity)) } ?? []
    }

    private func storedReferrers(_ attribute: ReferenceAttribute, to objects: [ManagedObject]) throws(StorageError) -> [ManagedObject] {
        if objects.isEmpty { return [] }
        let name = model.schema[attribute.entity].slots[attribute.slot].name
        let path = CheckedPath(steps: [], entity: attribute.entity, leaf: .slot(attribute.slot), type: .string, text: name)
        return try withPending { () throws(StorageError) in try storedReferrers(attribute, path, objects) }
    }

    private func storedReferrers(
        _ attribute: ReferenceAttribute, _ path: CheckedPath, _ objects: [ManagedObject]
    ) throws(StorageError) -> [ManagedObject] {
        var result: [ManagedObject] = []
        for start in stride(from: 0, to: objects.count, by: 500) {
            let ids = objects[start..<min(start + 500, objects.count)].map { objectKey(of: $0).description }
            let values = ids.sorted { $0.compareUTF8(to: $1) < 0 }.map(Value.string)
            let plan = FetchPlan(model.schema, attribute.entity, where: .isIn(.path(path), values))
            // If no store of the stack holds the entity, no references are known.
            for (store, entry) in stack.entries where entry.entities.contains(attribute.entity) {
                try withReader(store) { reader throws(StorageError) in
                    result += try self.objects(for: plan, store: store, reader)
                }
            }
        }
        return result
    }
}

extension ManagedObject {
    /// Returns the identity that a reference contains.
    func referenceKey(_ slot: Int) -> ObjectKey? {
        guard case .string(let text)? = currentValues()[description.slots[slot].name] else { return nil }
        return ObjectKey(text)
    }

    /// Sets an attribute to nil.
    func clear(_ slot: Int) {
        _touch(slot)
        let batch = encodedRow()
        batch.mutableCells(0)[slot] = .null
        withExtendedLifetime(batch) { _reload(batch.row(0), .max) }
    }
}
