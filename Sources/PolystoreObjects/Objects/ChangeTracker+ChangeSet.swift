internal import PolystoreStorage

extension ChangeTracker {
    /// The changed objects of one entity in one store.
    private struct Group {
        var inserts = ContiguousArray<ManagedObject>()
        var updates: [SlotMask: ContiguousArray<ManagedObject>] = [:]
        var deletes: [RowDeletion] = []
    }

    private struct GroupKey: Hashable {
        let store: Int
        let entity: EntityIndex
    }

    /// Returns the pending changes as one change set per store.
    ///
    /// - Parameter checksVersions: Whether rows must still have the versions with which the objects were read.
    func changeSets(_ schema: Schema, checksVersions: Bool = false) -> [Int: ChangeSet] {
        var groups: [GroupKey: Group] = [:]
        collectInserts(&groups)
        collectUpdates(&groups)
        for object in deleted where !object.isNew {
            groups[key(object), default: Group()].deletes.append(
                RowDeletion(key: object._key, expectedVersion: checksVersions ? object._version : nil, version: object._version))
        }
        var result: [Int: ChangeSet] = [:]
        for (key, group) in groups.sorted(by: { ($0.key.store, $0.key.entity) < ($1.key.store, $1.key.entity) }) {
            result[key.store, default: ChangeSet()].entities.append(
                changes(group, key.entity, schema[key.entity].slots.count, checksVersions))
        }
        for (key, pairs) in links.sorted(by: { $0.key.link < $1.key.link }) {
            result[key.store, default: ChangeSet()].links.append(linkChanges(key.link, pairs))
        }
        return result
    }

    private func key(_ object: ManagedObject) -> GroupKey { GroupKey(store: Int(object._store), entity: Int(object._entity)) }

    /// Collects the new objects. Consecutive objects usually have the same entity, so the dictionary is accessed once per run; if all have
    /// the same one, the list itself is used and no reference is counted.
    private func collectInserts(_ groups: inout [GroupKey: Group]) {
        var start = 0
        while start < inserted.count {
            if inserted[start].isDeletedObject {
                start += 1
                continue
            }
            let key = key(inserted[start])
            var end = start + 1
            while end < inserted.count, !inserted[end].isDeletedObject, self.key(inserted[end]) == key { end += 1 }
            if end - start == inserted.count {
                groups[key, default: Group()].inserts = inserted
            } else {
                groups[key, default: Group()].inserts += inserted[start..<end]
            }
            start = end
        }
    }

    private func collectUpdates(_ groups: inout [GroupKey: Group]) {
        var run = ContiguousArray<ManagedObject>(), runKey: GroupKey?, runMask = SlotMask()
        for object in changed where !object.isDeletedObject && !object.isNew && object._dirty != 0 {
            let key = key(object), mask = mask(object)
            if key != runKey || mask != runMask {
                if let runKey { groups[runKey, default: Group()].updates[runMask, default: []] += run }
                run.removeAll(keepingCapacity: true)
                runKey = key
                runMask = mask
            }
            run.append(object)
        }
        if let runKey { groups[runKey, default: Group()].updates[runMask, default: []] += run }
    }

    /// Returns the slots of an object that were assigned since its changes were last written.
    func mask(_ object: ManagedObject) -> SlotMask {
        var mask = SlotMask(low: object._dirty & ~(1 << 63))
        if object._dirty >> 63 != 0, let high = highSlots[ObjectIdentifier(object)] { mask.formUnion(high) }
        return mask
    }

    private func changes(_ group: Group, _ entity: EntityIndex, _ slots: Int, _ checksVersions: Bool) -> EntityChanges {
        var changes = EntityChanges(entity: entity, deletes: group.deletes)
        changes.updates = group.updates.map { mask, objects in
            RowUpdate(mask: mask, checksVersion: checksVersions, rows: source(objects, entity, slots) { $0._dirty })
        }
        if !group.inserts.isEmpty { changes.inserts = source(group.inserts, entity, slots) { _ in .max } }
        return changes
    }

    private func source(
        _ objects: ContiguousArray<ManagedObject>, _ entity: EntityIndex, _ slots: Int, _ mask: @escaping (ManagedObject) -> UInt64
    ) -> RowSource {
        RowSource(count: objects.count) { range, batch in
            for index in range {
                let object = objects[index], mask = mask(object)
                let version = object.isNew ? 1 : object._version
                let cells = batch.appendRow(key: object._key, version: version, entity: entity, slots: slots)
                if mask != .max { cells.update(repeating: .null, count: slots) }
                object._encode(cells, batch, mask)
            }
        }
    }

    private func linkChanges(_ link: Int, _ pairs: [Pair: Int64?]) -> LinkChanges {
        var changes = LinkChanges(link: link)
        for (pair, rank) in pairs.sorted(by: { ($0.key.owner, $0.key.member) < ($1.key.owner, $1.key.member) }) {
            if let rank {
                changes.added.append(LinkPair(owner: pair.owner, rank: rank, member: pair.member))
            } else {
                changes.removed.append(LinkPair(owner: pair.owner, member: pair.member))
            }
        }
        return changes
    }
}
