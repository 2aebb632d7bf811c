internal import PolystoreStorage

extension BaseTransaction {
    /// Returns the objects of a class that this transaction created and has not deleted again, in the order of their creation.
    public func insertedObjects<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [Object] {
        guard let tracker = context.tracker else { return [] }
        return objects([tracker.written.inserted, tracker.inserted]) { !$0.isDeletedObject }
    }

    /// Returns the previously existing objects of a class to which this transaction assigned values, in the order of the first assignment.
    public func updatedObjects<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [Object] {
        guard let tracker = context.tracker else { return [] }
        let inserted = Set((tracker.written.inserted + tracker.inserted).map(ObjectIdentifier.init))
        return objects([tracker.written.changed, tracker.changed]) {
            !$0.isDeletedObject && !inserted.contains(ObjectIdentifier($0)) && !changedMask($0).isEmpty
        }
    }

    /// Returns the ids of the previously existing objects of a class that this transaction deletes.
    public func deletedObjectIDs<Object: ManagedObject>(_ type: Object.Type = ManagedObject.self) -> [ObjectID<Object>] {
        guard let tracker = context.tracker else { return [] }
        let inserted = Set((tracker.written.inserted + tracker.inserted).map(ObjectIdentifier.init))
        let deleted: [Object] = objects([tracker.written.deleted, tracker.deleted]) { !inserted.contains(ObjectIdentifier($0)) }
        return deleted.map { ObjectID(context.objectKey(of: $0)) }
    }

    /// Returns the stored names of the attributes and to-one relationships of an object that this transaction assigned.
    public func changedKeys(of object: ManagedObject) -> Set<String> {
        let slots = object.description.slots
        return Set(changedMask(object).slots.filter(slots.indices.contains).map { slots[$0].name })
    }

    private func changedMask(_ object: ManagedObject) -> SlotMask {
        guard let tracker = context.tracker, object._context === context else { return SlotMask() }
        if object.isNew { return SlotMask(all: object.description.slots.count) }
        var mask = tracker.mask(object)
        if let before = tracker.written.masks[ObjectIdentifier(object)] { mask.formUnion(before) }
        return mask
    }

    private func objects<Object: ManagedObject>(
        _ lists: [ContiguousArray<ManagedObject>], where isWanted: (ManagedObject) -> Bool
    ) -> [Object] {
        var seen: Set<ObjectIdentifier> = []
        return lists.joined().compactMap { object in
            guard isWanted(object), seen.insert(ObjectIdentifier(object)).inserted else { return nil }
            return object as? Object
        }
    }
}
