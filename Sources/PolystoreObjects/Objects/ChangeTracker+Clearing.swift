internal import PolystoreStorage

extension ChangeTracker {
    /// The changes that the deletion of an object made to other objects, and those that it ended. They are reverted if a merge policy
    /// abandons the deletion.
    struct Clearing {
        struct Reference {
            let object: ManagedObject
            let slot: Int
            /// The row of the object before the change.
            let row: RowBatch
            /// Whether the slot was already assigned before.
            let wasAssigned: Bool
            /// The position of the change among those of all deletions.
            let number: Int
        }

        struct Removal {
            let key: LinkKey
            let pair: Pair
            /// The previous pending change of the pair.
            let former: Int64??
        }

        /// The slots of the object that were assigned before its deletion.
        var assigned = SlotMask()
        /// The assigned slots that are nil only because the other end was assigned.
        var implied = SlotMask()
        /// The row of the object before its deletion, if it is new or slots were assigned.
        var row: RowBatch?
        /// The assigned slots of a new object before its deletion, as its own mask.
        var dirty: UInt64 = 0
        var references: [Reference] = []
        var removals: [Removal] = []
    }

    /// A reference that became nil because of a change of something else.
    struct ClearedReference: Hashable {
        let object: ObjectIdentifier
        let slot: Int

        init(_ object: ManagedObject, _ slot: Int) {
            self.object = ObjectIdentifier(object)
            self.slot = slot
        }
    }

    /// Records that a reference is about to become nil because its other end is assigned. One that was assigned itself is not recorded.
    func willImply(_ object: ManagedObject, _ slot: Int) {
        if !mask(object).contains(slot) { implied.insert(ClearedReference(object, slot)) }
    }

    /// Records that a reference is about to be assigned itself.
    func willAssign(_ object: ManagedObject, _ slot: Int) {
        if !implied.isEmpty { implied.remove(ClearedReference(object, slot)) }
        if !clearings.isEmpty, deleting == nil { assignedSince[ClearedReference(object, slot)] = clearingCount }
    }

    /// Records the slots of an object that were assigned before the deletion that is about to begin, with their values.
    func willDelete(_ object: ManagedObject) {
        let assigned = mask(object)
        let implied = self.implied.isEmpty ? [] : assigned.slots.filter { self.implied.contains(ClearedReference(object, $0)) }
        clearings[ObjectIdentifier(object)] = Clearing(
            assigned: assigned, implied: SlotMask(implied), row: assigned.isEmpty && !object.isNew ? nil : object.encodedRow(),
            dirty: object._dirty)
    }

    /// Reverts the deletion of an object that no store contains yet.
    func restoreNew(_ object: ManagedObject) {
        guard let clearing = clearings[ObjectIdentifier(object)], let row = clearing.row else { return }
        withExtendedLifetime(row) { object._reload(row.row(0), .max) }
        object._flags &= ~ManagedObject.Flags.deleted
        object._dirty = clearing.dirty
    }

    /// Records that a slot of an object is about to become nil because of the object that is being deleted.
    func willClear(_ object: ManagedObject, _ slot: Int) {
        guard let deleting, deleting != ObjectIdentifier(object) else { return }
        clearingCount += 1
        let reference = Clearing.Reference(
            object: object, slot: slot, row: object.encodedRow(), wasAssigned: mask(object).contains(slot), number: clearingCount)
        clearings[deleting, default: Clearing()].references.append(reference)
    }

    /// Records that a pair is about to be removed because of the object that is being deleted.
    func willRemove(_ pair: Pair, _ key: LinkKey) {
        guard let deleting else { return }
        clearings[deleting, default: Clearing()].removals.append(.init(key: key, pair: pair, former: links[key]?[pair]))
    }

    /// Reverts the changes that the deletion of an object made to objects that still exist.
    ///
    /// - Parameters:
    ///   - settled: The objects whose references already match the store.
    ///   - isEnded: Whether a pair is obsolete, because its member now belongs to another owner.
    func restore(
        _ clearing: Clearing, _ schema: Schema, except settled: Set<ObjectIdentifier>, _ isEnded: (LinkKey, Pair) -> Bool
    ) {
        for reference in clearing.references.reversed()
        where !reference.object.isDeletedObject && !settled.contains(ObjectIdentifier(reference.object)) {
            restore(reference)
        }
        let gone = Set(deleted.map { Place(store: Int($0._store), root: $0.description.root, key: $0._key) })
        for removal in clearing.removals.reversed() {
            let link = schema.links[removal.key.link], store = removal.key.store
            let owner = Place(store: store, root: schema[link.owner].root, key: removal.pair.owner)
            let member = Place(store: store, root: schema[link.member].root, key: removal.pair.member)
            if gone.contains(owner) || gone.contains(member) || isEnded(removal.key, removal.pair) { continue }
            links[removal.key, default: [:]][removal.pair] = removal.former
        }
        links = links.filter { !$0.value.isEmpty }
    }

    private struct Place: Hashable {
        let store: Int
        let root: EntityIndex
        let key: Int64
    }

    /// Returns whether a reference was assigned after a deletion had set it to nil.
    func wasAssignedLater(_ reference: Clearing.Reference) -> Bool {
        (assignedSince[ClearedReference(reference.object, reference.slot)] ?? 0) >= reference.number
    }

    private func restore(_ reference: Clearing.Reference) {
        let object = reference.object, slot = reference.slot
        // Later assignments are kept, in the slot and in the slots that share its bit.
        if wasAssignedLater(reference) { return }
        let present = object.encodedRow(), cells = present.mutableCells(0)
        guard cells[slot].isNull else { return }
        withExtendedLifetime((present, reference.row)) {
            cells[slot] = reference.row.row(0)[slot]
            object._reload(present.row(0), 1 << UInt64(min(slot, 63)))
        }
        if !reference.wasAssigned, !object.isNew { unassign(object, slot) }
    }

    /// Marks a slot as not assigned, and the object as unchanged if no other slot is assigned.
    func unassign(_ object: ManagedObject, _ slot: Int) {
        if slot < 63 {
            object._dirty &= ~(1 << UInt64(slot))
        } else {
            highSlots[ObjectIdentifier(object)]?.subtract(SlotMask([slot]))
            if highSlots[ObjectIdentifier(object)]?.isEmpty != false { object._dirty &= ~(1 << 63) }
        }
        if object._dirty != 0 { return }
        changed.removeAll { $0 === object }
        bases[ObjectIdentifier(object)] = nil
    }
}
