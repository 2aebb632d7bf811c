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
        try context.throwingFailures(assigns: true) { () throws(StorageError) in try merge(policy) }
    }

    private func merge(_ policy: MergePolicy) throws(StorageError) {
        let repeats = repeatsDeletions(policy)
        var contested: [Contested] = []
        for item in items {
            switch policy {
            case .error: break
            case .theirs: contested += giveUp(item)
            case .mine: contested += try merge(item, repeats) { _, _, mine, _ in mine }
            case .byAttribute(let choose):
                let entity = item.object.description.name
                contested += try merge(item, repeats) { choose(entity, $0, $1, $2, $3) }
            }
        }
        let hasDeletions = items.contains { $0.isDeletedHere || $0.theirs == nil }
        if contested.isEmpty, missing.isEmpty, !hasDeletions { return }
        let repeated = repeats ? try undoDeletions() : nil
        try restoreReferences(of: repeated?.objects ?? items.filter { $0.isDeletedHere && !$0.object.isDeletedObject }.map(\.object))
        endMissing()
        forgetRelationships()
        // What was assigned here takes a destination from what only follows the other transaction.
        for reference in contested where reference.wanted == reference.theirs { try settle(reference) }
        for reference in contested where reference.wanted != reference.theirs { try settle(reference) }
        if let repeated { try deleteAgain(repeated) }
        forgetRelationships()
    }

    /// Whether the deletions of this transaction are repeated, because one of them is in conflict and the policy keeps it.
    private func repeatsDeletions(_ policy: MergePolicy) -> Bool {
        switch policy {
        case .error, .theirs: false
        case .mine, .byAttribute: items.contains(where: \.isDeletedHere)
        }
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
    ///
    /// - Parameter repeats: Whether the deletions of this transaction are repeated, so that they set references to nil again.
    private func merge(
        _ item: Item, _ repeats: Bool, _ choose: (_ attribute: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value
    ) throws(StorageError) -> [Contested] {
        let object = item.object
        // The row no longer exists, so there is nothing to change or to delete.
        guard let row = item.theirs else { return giveUp(item) }
        if item.isDeletedHere { return [] }
        let description = object.description, mask = tracker.mask(object)
        let mine = object.currentValues(), theirs = object.values(row.view)
        let base = tracker.bases[ObjectIdentifier(object)].map { object.values($0.row.row(0)) } ?? mine
        // The base for the detection of the next conflict.
        let newBase = RowBatch(capacity: 1)
        newBase.append(copying: row.view, slots: description.slots.count)
        let cells = row.batch.mutableCells(row.index)
        var contested: [Contested] = []
        for slot in mask.slots where slot < description.slots.count {
            let name = description.slots[slot].name
            let (was, other) = (base[name] ?? .null, theirs[name] ?? .null)
            let own = (repeats ? reassigned[.init(object, slot)] : nil) ?? mine[name] ?? .null
            let isKept =
                other == was || own == .null && isImplied(object, slot) && !isTaken(object, slot, other.key)
                || isVoid(object, slot, own)
            let isCleared = own == .null && cleared.contains(.init(object, slot))
            let value = !isKept ? choose(name, was, own, other) : other == was && !(repeats && isCleared) ? own : other
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
        tracker.bases[ObjectIdentifier(object)] = SavedRow(newBase)
        return contested
    }

    /// Returns whether a reference is nil in this transaction only because it deleted the former destination, or changed the other end. If the
    /// other transaction has assigned another destination, both changes are kept.
    private func isImplied(_ object: ManagedObject, _ slot: Int) -> Bool {
        let reference = ChangeTracker.ClearedReference(object, slot)
        return cleared.contains(reference) || tracker.implied.contains(reference)
    }

    /// Returns whether this transaction has assigned the destination that the other one gave to a one-to-one relationship to another object.
    private func isTaken(_ object: ManagedObject, _ slot: Int, _ key: Int64?) -> Bool {
        guard let key, let destination = object.description.slots[slot].destination,
            case .toOne(let inverse) = context.model.inverses[Int(object._entity)][slot],
            let target = context.identityMap(destination, Int(object._store)).find(key), !target.isDeletedObject,
            let owner = target._reference(inverse), owner != object._key
        else { return false }
        return tracker.mask(target).contains(inverse)
    }

    /// Returns whether an assigned partner of a one-to-one relationship no longer exists. It may have been assigned at the other end, so it
    /// takes nothing from what the other transaction has assigned.
    private func isVoid(_ object: ManagedObject, _ slot: Int, _ value: Value) -> Bool {
        if gone.isEmpty { return false }
        guard let key = value.key, let destination = object.description.slots[slot].destination,
            case .toOne = context.model.inverses[Int(object._entity)][slot]
        else { return false }
        return gone.contains(Target(store: Int(object._store), root: context.model.schema[destination].root, key: key))
    }

    // MARK: Deletions

    /// Restores the references and pairs that the deletion of objects had removed from other objects. Then removes from the objects the
    /// references to objects that are deleted here or that now belong to another object.
    ///
    /// - Parameter restored: Objects that are no longer deleted, in the order of their deletions.
    private func restoreReferences(of restored: [ManagedObject]) throws(StorageError) {
        let settled = Set((items.map(\.object) + restored.filter { !$0.isNew }).map(ObjectIdentifier.init))
        for object in restored.reversed() {
            guard let clearing = tracker.clearings.removeValue(forKey: ObjectIdentifier(object)) else { continue }
            tracker.restore(clearing, context.model.schema, except: settled, hasOtherOwner)
            // A partner that was assigned here before the deletion is discarded together with the other changes.
            for reference in clearing.references where reference.object._reference(reference.slot) == object._key {
                guard case .toOne(let inverse) = context.model.inverses[Int(reference.object._entity)][reference.slot],
                    object._reference(inverse) != reference.object._key
                else { continue }
                tracker.willImply(reference.object, reference.slot)
                put(reference.object, reference.slot, nil)
            }
        }
        for object in restored {
            for (slot, description) in object.description.slots.enumerated() {
                guard let destination = description.destination, let key = object._reference(slot) else { continue }
                let target = context.identityMap(destination, Int(object._store)).find(key)
                if case .ordered(_, let link) = context.model.inverses[Int(object._entity)][slot] {
                    tracker.keepStored(.init(owner: key, member: object._key), .init(link: link, store: Int(object._store)))
                }
                if target?.isDeletedObject == true {
                    context.assign(object, slot, nil)
                    if case .ordered(_, let link) = context.model.inverses[Int(object._entity)][slot] {
                        tracker.unlink(link, Int(object._store), owner: key, member: object._key, isPending: false)
                    }
                }
                guard case .toOne(let inverse) = context.model.inverses[Int(object._entity)][slot],
                    let partner = try current(destination, key, Int(object._store)), partner._reference(inverse) != object._key
                else { continue }
                tracker.willImply(object, slot)
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

    /// The deletions of a transaction that are undone in order to be repeated.
    private struct Repeated {
        /// The objects that exist again, in the order of their deletions, with the rows in the stores; nil for a new one.
        var objects: [ManagedObject] = []
        var rows = Rows()
        /// The objects that each deletion names.
        let deletions: [[ManagedObject]]
        let clearings: [ObjectIdentifier: ChangeTracker.Clearing]
        /// The rows of the objects before their first assignment.
        let bases: [ObjectIdentifier: SavedRow]
    }

    /// Undoes all deletions of this transaction. They are repeated after the changes of the other one: an object that a delete rule has
    /// reached may be out of its reach now, and others within it.
    private func undoDeletions() throws(StorageError) -> Repeated {
        // A deletion follows the relationships of objects in memory, and those that were only read do not have the new ones yet.
        try context.refreshUnchanged()
        var repeated = Repeated(deletions: tracker.deletions, clearings: tracker.clearings, bases: tracker.bases)
        let deleted = tracker.deleted.filter(\.isDeletedObject), identities = Set(deleted.map(ObjectIdentifier.init))
        tracker.changed.removeAll { identities.contains(ObjectIdentifier($0)) && !$0.isNew }
        repeated.rows = try rows(of: deleted.filter { !$0.isNew })
        for object in deleted {
            if object.isNew {
                tracker.restoreNew(object)
            } else if let row = repeated.rows[object] {
                object.revert(to: row.view)
                tracker.bases[ObjectIdentifier(object)] = nil
                tracker.highSlots[ObjectIdentifier(object)] = nil
            }
            if !object.isDeletedObject { repeated.objects.append(object) }
        }
        tracker.deleted.removeAll()
        tracker.deletions.removeAll()
        return repeated
    }

    /// Repeats the assignments to objects that were deleted later, and the deletions.
    private func deleteAgain(_ repeated: Repeated) throws(StorageError) {
        for object in repeated.objects {
            guard let clearing = repeated.clearings[ObjectIdentifier(object)] else { continue }
            try assignAgain(object, clearing, repeated.bases[ObjectIdentifier(object)]?.row, repeated.rows[object])
        }
        forgetRelationships()
        for objects in repeated.deletions {
            var deletion = Deletion(context)
            _ = try deletion.delete(objects)
        }
    }

    /// Repeats the assignments of this transaction to an object that it deleted later: the delete rules apply to the assigned references,
    /// and not to the destinations that they replaced.
    ///
    /// - Parameters:
    ///   - base: The row before the first assignment.
    ///   - theirs: The row in the store; nil for a new object.
    private func assignAgain(
        _ object: ManagedObject, _ former: ChangeTracker.Clearing, _ base: RowBatch?, _ theirs: Row?
    ) throws(StorageError) {
        guard let row = former.row else { return }
        let mine = object.values(row.row(0)), others = theirs.map { object.values($0.view) } ?? [:], slots = object.description.slots
        let before = base.map { object.values($0.row(0)) } ?? others
        var attributes: [String: Value] = [:]
        for slot in former.assigned.slots where slots.indices.contains(slot) {
            let name = slots[slot].name, other = others[name] ?? .null, reference = ChangeTracker.ClearedReference(object, slot)
            let own = reassigned[reference] ?? mine[name] ?? .null
            let isImplied = own == .null && (cleared.contains(reference) || former.implied.contains(slot) && other != before[name] ?? .null)
            if isImplied || other != before[name] ?? .null && isVoid(object, slot, own) { continue }
            if own == other {
                // It stays assigned: a third transaction may assign another destination before the commit.
                if slots[slot].destination != nil { object._touch(slot) }
                continue
            }
            if slots[slot].destination != nil {
                if try hasLaterPartner(object, slot, own.key) { continue }
                try settle(Contested(object: object, slot: slot, mine: own.key, theirs: other.key, wanted: own.key))
            } else {
                attributes[name] = own
            }
        }
        try object.assign(attributes)
    }

    /// Returns whether this transaction has assigned the destination of a one-to-one relationship to another object after the deletion of
    /// an object.
    private func hasLaterPartner(_ object: ManagedObject, _ slot: Int, _ key: Int64?) throws(StorageError) -> Bool {
        guard let key, let destination = object.description.slots[slot].destination,
            case .toOne(let inverse) = context.model.inverses[Int(object._entity)][slot],
            let target = try current(destination, key, Int(object._store)), let owner = target._reference(inverse), owner != object._key,
            let partner = context.identityMap(Int(object._entity), Int(object._store)).find(owner), !partner.isDeletedObject
        else { return false }
        return tracker.mask(partner).contains(slot) && partner._reference(slot) == key
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
                tracker.willImply(former, inverse)
                put(former, inverse, nil)
            }
            if let target, let owner = target._reference(inverse), owner != object._key,
                let former = try current(Int(object._entity), owner, store), former._reference(slot) == target._key
            {
                tracker.willImply(former, slot)
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
        // An object whose changes were given up has the stored pair, and its row is not compared again.
        if let rank = mine, reference.wanted == reference.mine, reference.object._dirty != 0 {
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
        guard !object.isNew, let base = tracker.bases[ObjectIdentifier(object)]?.row else { return }
        if withExtendedLifetime(base, { isWanted(base.row(0)[slot]) }) { tracker.unassign(object, slot) }
    }
}

extension Value {
    /// The primary key that a reference contains.
    fileprivate var key: Int64? { if case .int(let key) = self { key } else { nil } }
}
