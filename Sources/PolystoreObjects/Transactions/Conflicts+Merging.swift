internal import PolystoreStorage

/// The resolution of conflicts by a merge policy.
///
/// Rows are merged individually, but a relationship has two ends. Each reference of a conflicting row that has different destinations in
/// this transaction and in the store therefore gets a single destination, at both ends, in the same way as setters assign it. Afterwards
/// both sides agree as if one transaction had followed the other: with `mine` this transaction follows the other one, with `theirs` the
/// other one follows this one.
extension Conflicts {
    /// A reference of a conflicting row, with its destination in this transaction, in the store, and according to the policy.
    private struct Contested {
        let object: ManagedObject
        let slot: Int
        let mine: Int64?
        let theirs: Int64?
        let wanted: Int64?
    }

    /// Changes the objects according to a policy, so that the commit can be retried.
    ///
    /// - Throws: Any error of reading; `deleteDenied` if changes of another transaction prevent a deletion that the policy keeps. The objects
    ///   are changed partially then.
    func resolve(_ policy: MergePolicy) throws(StorageError) {
        try context.throwingFailures { () throws(StorageError) in try merge(policy) }
    }

    private func merge(_ policy: MergePolicy) throws(StorageError) {
        var contested: [Contested] = []
        for item in items {
            switch policy {
            case .error: break
            case .theirs: contested += giveUp(item)
            case .mine: contested += try merge(item) { _, _, mine, _ in mine }
            case .byAttribute(let choose):
                let entity = item.object.description.name
                contested += try merge(item) { choose(entity, $0, $1, $2, $3) }
            }
        }
        let hasDeletions = items.contains { $0.isDeletedHere || $0.theirs == nil }
        if contested.isEmpty, missing.isEmpty, !hasDeletions { return }
        try restoreDeletions()
        endMissing()
        forgetRelationships()
        for reference in contested { try settle(reference) }
        try deleteAgain()
        forgetRelationships()
    }

    /// Discards the destinations of to-many relationships, so that they are determined again from the store and the pending changes.
    private func forgetRelationships() {
        tracker.knowsMembersOfNewObjects = false
        context.forgetRelationships()
    }

    // MARK: Rows

    /// Discards this transaction's changes of an object.
    private func giveUp(_ item: Item) -> [Contested] {
        let object = item.object
        let mine = references(of: object).map { ($0, object._reference($0)) }
        tracker.changed.removeAll { $0 === object }
        tracker.deleted.removeAll { $0 === object }
        tracker.bases[ObjectIdentifier(object)] = nil
        object._dirty = 0
        guard let theirs = item.theirs else {
            object._flags |= ManagedObject.Flags.deleted
            return []
        }
        object.revert(to: theirs.view)
        return mine.map { slot, mine in
            let theirs = object._reference(slot)
            return Contested(object: object, slot: slot, mine: mine, theirs: theirs, wanted: theirs)
        }
    }

    /// Returns the slots of an object's references that this transaction assigned; for an object to be deleted, before its deletion.
    private func references(of object: ManagedObject) -> [Int] {
        let slots = object.description.slots, mask = tracker.clearings[ObjectIdentifier(object)]?.assigned ?? tracker.mask(object)
        return mask.slots.filter { slots.indices.contains($0) && slots[$0].destination != nil }
    }

    /// Applies the values of the other transaction, except for the slots assigned in this one. References are not changed yet.
    private func merge(
        _ item: Item, _ choose: (_ attribute: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value
    ) throws(StorageError) -> [Contested] {
        let object = item.object
        // The row no longer exists, so there is nothing to change or to delete.
        guard let row = item.theirs else { return giveUp(item) }
        if item.isDeletedHere {
            object._version = row.view.version
            return []
        }
        let description = object.description, mask = tracker.mask(object)
        let mine = object.currentValues(), theirs = object.values(row.view)
        let base = tracker.bases[ObjectIdentifier(object)].map { object.values($0.row(0)) } ?? mine
        // The base for the detection of the next conflict.
        let newBase = RowBatch(capacity: 1)
        newBase.append(copying: row.view, slots: description.slots.count)
        let cells = row.batch.mutableCells(row.index)
        var contested: [Contested] = []
        for slot in mask.slots where slot < description.slots.count {
            let name = description.slots[slot].name
            let (was, own, other) = (base[name] ?? .null, mine[name] ?? .null, theirs[name] ?? .null)
            let isKept = other == was || own == .null && isImplied(object, slot, was)
            let value = !isKept ? choose(name, was, own, other) : other == was ? own : other
            do throws(ValueError) {
                let normal = try description.normalise(value, slot: slot), isReference = description.slots[slot].destination != nil
                cells[slot] = row.batch.cell(for: isReference ? own : normal)
                if !isReference { continue }
                contested.append(Contested(object: object, slot: slot, mine: own.key, theirs: other.key, wanted: normal.key))
            } catch {
                throw StorageError(error)
            }
        }
        object.takeOver(row.view)
        tracker.bases[ObjectIdentifier(object)] = newBase
        return contested
    }

    /// Returns whether a reference is nil in this transaction only because it deleted the former destination, or assigned another partner to
    /// it. If the other transaction has assigned another destination, both changes are kept.
    private func isImplied(_ object: ManagedObject, _ slot: Int, _ former: Value) -> Bool {
        if cleared.contains(ClearedReference(object: ObjectIdentifier(object), slot: slot)) { return true }
        guard case .toOne(let inverse) = context.model.inverses[Int(object._entity)][slot], let key = former.key,
            let destination = object.description.slots[slot].destination,
            let partner = context.identityMap(destination, Int(object._store)).find(key)?._reference(inverse)
        else { return false }
        return partner != object._key
    }

    // MARK: Deletions

    /// Restores the references and pairs that abandoned deletions had removed from other objects. Then removes from the restored objects
    /// the references to objects that are deleted here or that now belong to another object.
    private func restoreDeletions() throws(StorageError) {
        let restored = items.filter { $0.isDeletedHere && !$0.object.isDeletedObject }.map(\.object)
        let settled = Set(items.map { ObjectIdentifier($0.object) })
        for object in restored {
            guard let clearing = tracker.clearings.removeValue(forKey: ObjectIdentifier(object)) else { continue }
            tracker.restore(clearing, context.model.schema, except: settled, hasOtherOwner)
            // A partner that was assigned here before the deletion is discarded together with the other changes.
            for reference in clearing.references where reference.object._reference(reference.slot) == object._key {
                guard case .toOne(let inverse) = context.model.inverses[Int(reference.object._entity)][reference.slot],
                    object._reference(inverse) != reference.object._key
                else { continue }
                put(reference.object, reference.slot, nil)
            }
        }
        for object in restored {
            for (slot, description) in object.description.slots.enumerated() {
                guard let destination = description.destination, let key = object._reference(slot) else { continue }
                let target = context.identityMap(destination, Int(object._store)).find(key)
                if target?.isDeletedObject == true {
                    context.assign(object, slot, nil)
                    if case .ordered(_, let link) = context.model.inverses[Int(object._entity)][slot] {
                        tracker.unlink(link, Int(object._store), owner: key, member: object._key, isPending: false)
                    }
                }
                guard case .toOne(let inverse) = context.model.inverses[Int(object._entity)][slot],
                    let partner = try current(destination, key, Int(object._store)), partner._reference(inverse) != object._key
                else { continue }
                put(object, slot, nil)
            }
            clearReferences(of: object) { known($0)?.isDeletedObject == true }
        }
    }

    /// Sets references into other stores to nil whose destination satisfies a condition.
    private func clearReferences(of object: ManagedObject, where isGone: (Target) -> Bool) {
        for attribute in context.model.references where context.model.schema[attribute.entity].family.contains(Int(object._entity)) {
            guard let target = object.referenceKey(attribute.slot).flatMap({ Target($0, context) }), isGone(target) else { continue }
            object.clear(attribute.slot)
            forgetChange(of: object, attribute.slot) { $0.isNull }
        }
    }

    /// Whether the member of a pair, whose own slot determines its position in an ordered to-many relationship, references another owner.
    private func hasOtherOwner(_ table: ChangeTracker.LinkKey, _ pair: ChangeTracker.Pair) -> Bool {
        let schema = context.model.schema, link = schema.links[table.link]
        guard let relationship = schema[link.owner].relationships.first(where: { $0.relationship.name == link.ownerRelationship }),
            case .orderedInverseSlot(let slot, _) = relationship.place,
            let member = context.identityMap(link.member, table.store).find(pair.member)
        else { return false }
        return member._reference(slot) != pair.owner
    }

    /// Removes this transaction's references to objects that other transactions deleted, because their destination no longer exists.
    private func endMissing() {
        let schema = context.model.schema
        let gone = missing.union(items.filter { $0.theirs == nil }.map { Target($0.object) })
        if gone.isEmpty { return }
        func isGone(_ entity: EntityIndex, _ key: Int64, _ store: Int) -> Bool {
            gone.contains(Target(store: store, root: schema[entity].root, key: key))
        }
        for target in gone { known(target)?._flags |= ManagedObject.Flags.deleted }
        for object in tracker.pendingObjects where !object.isDeletedObject {
            for (slot, description) in object.description.slots.enumerated() {
                guard let destination = description.destination, let key = object._reference(slot) else { continue }
                if isGone(destination, key, Int(object._store)) { put(object, slot, nil) }
            }
            clearReferences(of: object, where: gone.contains)
        }
        for (table, pairs) in tracker.links {
            let link = schema.links[table.link]
            tracker.links[table] = pairs.filter { pair, _ in
                !isGone(link.owner, pair.owner, table.store) && !isGone(link.member, pair.member, table.store)
            }
        }
        tracker.links = tracker.links.filter { !$0.value.isEmpty }
    }

    /// Repeats the deletion of objects that other objects now reference, so that the delete rules are applied to those objects too.
    private func deleteAgain() throws(StorageError) {
        let referred = items.filter { $0.isReferred && $0.object.isDeletedObject }, again = referred.map(\.object)
        if again.isEmpty { return }
        // A deletion follows the relationships of objects in memory, and those that were only read do not have the new ones yet.
        try context.refreshUnchanged()
        let former = tracker.clearings
        for item in referred {
            guard let theirs = item.theirs else { continue }
            item.object.revert(to: theirs.view)
            try forgetFormerPartners(of: item.object)
        }
        for item in referred {
            guard let theirs = item.theirs, let first = former[ObjectIdentifier(item.object)] else { continue }
            try assignAgain(item.object, first, theirs)
        }
        tracker.deleted.removeAll { !$0.isDeletedObject }
        var deletion = Deletion(context)
        _ = try deletion.delete(again)
        for object in again {
            guard let first = former[ObjectIdentifier(object)] else { continue }
            let second = tracker.clearings[ObjectIdentifier(object)] ?? ChangeTracker.Clearing()
            tracker.clearings[ObjectIdentifier(object)] = ChangeTracker.Clearing(
                assigned: first.assigned, row: first.row, references: first.references + second.references,
                removals: first.removals + second.removals)
        }
    }

    /// Repeats the assignments of this transaction to an object that it deleted later: the delete rules apply to the assigned references,
    /// and not to the destinations that they replaced.
    private func assignAgain(_ object: ManagedObject, _ former: ChangeTracker.Clearing, _ theirs: Row) throws(StorageError) {
        guard let row = former.row else { return }
        let mine = object.values(row.row(0)), others = object.values(theirs.view), slots = object.description.slots
        var attributes: [String: Value] = [:]
        for slot in former.assigned.slots where slots.indices.contains(slot) {
            let (own, other) = (mine[slots[slot].name] ?? .null, others[slots[slot].name] ?? .null)
            if own == other { continue }
            if slots[slot].destination != nil {
                try settle(Contested(object: object, slot: slot, mine: own.key, theirs: other.key, wanted: own.key))
            } else {
                attributes[slots[slot].name] = own
            }
        }
        try object.assign(attributes)
    }

    /// Clears the one-to-one references of an object to be deleted whose partner has another partner here. That pair remains.
    private func forgetFormerPartners(of object: ManagedObject) throws(StorageError) {
        for slot in object.description.slots.indices {
            guard case .toOne(let inverse) = context.model.inverses[Int(object._entity)][slot], let key = object._reference(slot),
                let destination = object.description.slots[slot].destination
            else { continue }
            let partner = try current(destination, key, Int(object._store))
            if partner?._reference(inverse) != object._key { object._setReference(slot, nil) }
        }
    }

    // MARK: References

    /// Sets the destination of a reference at both ends.
    private func settle(_ reference: Contested) throws(StorageError) {
        let object = reference.object, slot = reference.slot
        guard !object.isDeletedObject, let destination = object.description.slots[slot].destination else { return }
        let store = Int(object._store)
        let target = try reference.wanted.flatMap { key throws(StorageError) in try current(destination, key, store) }
        if let target, !context.accepts(target, for: object, named: object.description.slots[slot].name, destination) { return }
        // Its present destination too, which the other end of another reference may have chosen before.
        let ends = [reference.mine, reference.theirs, object._reference(slot)]
        let formers = Set(ends.compactMap { $0 }).subtracting([target?._key].compactMap { $0 })
        switch context.model.inverses[Int(object._entity)][slot] {
        case .none: break
        case .toOne(let inverse):
            for key in formers {
                guard let former = try current(destination, key, store), former._reference(inverse) == object._key else { continue }
                put(former, inverse, nil)
            }
            if let target, let owner = target._reference(inverse), owner != object._key,
                let former = try current(Int(object._entity), owner, store), former._reference(slot) == target._key
            {
                put(former, slot, nil)
            }
            if let target { put(target, inverse, object._key) }
        case .toMany(let relationship): recount(relationship, destination, formers.union([target?._key].compactMap { $0 }), store)
        case .ordered(let relationship, let link):
            recount(relationship, destination, formers.union([target?._key].compactMap { $0 }), store)
            place(reference, in: target, relationship, ChangeTracker.LinkKey(link: link, store: store))
        }
        put(object, slot, target?._key)
    }

    /// Sets the pairs of an object to the one that its reference requires. The store holds the pair that belongs to the stored row.
    private func place(_ reference: Contested, in target: ManagedObject?, _ relationship: Int, _ table: ChangeTracker.LinkKey) {
        let key = reference.object._key
        let mine = target.flatMap { tracker.links[table]?[ChangeTracker.Pair(owner: $0._key, member: key)] } ?? nil
        tracker.links[table] = tracker.links[table]?.filter { $0.key.member != key }
        if tracker.links[table]?.isEmpty == true { tracker.links[table] = nil }
        if let theirs = reference.theirs, theirs != target?._key {
            tracker.unlink(table.link, table.store, owner: theirs, member: key, isPending: false)
        }
        guard let target else { return }
        if let rank = mine, reference.wanted == reference.mine {
            tracker.link(table.link, table.store, LinkPair(owner: target._key, rank: rank, member: key))
        } else if target._key != reference.theirs {
            context.append(reference.object, to: target, relationship, table.link)
        }
    }

    /// Schedules a recount of the members of a to-many relationship at commit.
    private func recount(_ relationship: Int, _ entity: EntityIndex, _ keys: Set<Int64>, _ store: Int) {
        if !context.model.hasCounts { return }
        for key in keys { tracker.recount(store, context.model.schema[entity].root, key, relationship) }
    }

    /// Returns the destination of a relationship with its pending changes or, without any, as it is in the store now; nil if it was
    /// deleted.
    private func current(_ entity: EntityIndex, _ key: Int64, _ store: Int) throws(StorageError) -> ManagedObject? {
        guard let known = context.identityMap(entity, store).find(key) else { return try context.object(entity, key, store) }
        // The objects in conflict have their stored rows already, perhaps without a reference whose partner has another one here.
        if known._dirty == 0, !known.isDeletedObject, !inConflict.contains(ObjectIdentifier(known)) {
            try context.refresh([known], context.model.schema[entity].root, store)
        }
        return known.isDeletedObject ? nil : known
    }

    /// Assigns one end of a relationship. A value equal to the stored one does not count as a change.
    private func put(_ object: ManagedObject, _ slot: Int, _ key: Int64?) {
        if object._reference(slot) == key { return }
        context.assign(object, slot, key)
        forgetChange(of: object, slot) { ($0.isNull ? nil : $0.int) == key }
    }

    /// Marks a slot as not assigned if the stored cell is the wanted one.
    private func forgetChange(of object: ManagedObject, _ slot: Int, if isWanted: (Cell) -> Bool) {
        guard !object.isNew, let base = tracker.bases[ObjectIdentifier(object)] else { return }
        if withExtendedLifetime(base, { isWanted(base.row(0)[slot]) }) { tracker.unassign(object, slot) }
    }
}

extension Value {
    /// The primary key that a reference contains.
    fileprivate var key: Int64? { if case .int(let key) = self { key } else { nil } }
}
