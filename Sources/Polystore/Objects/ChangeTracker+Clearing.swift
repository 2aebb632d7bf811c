internal import PolystoreStorage

extension ChangeTracker {
    /// What the deletion of an object took from others, to be given back when a merge policy gives the deletion up.
    struct Clearing {
        struct Reference {
            let object: ManagedObject
            let slot: Int
            /// The object as it was before.
            let row: RowBatch
            /// Whether the slot had been assigned before.
            let wasAssigned: Bool
        }

        struct Removal {
            let key: LinkKey
            let pair: Pair
            /// What was pending for the pair before.
            let former: Int64??
        }

        var references: [Reference] = []
        var removals: [Removal] = []
    }

    /// Notes that a slot of an object is about to become nil, because of the object that is being deleted.
    func willClear(_ object: ManagedObject, _ slot: Int) {
        guard let deleting, deleting != ObjectIdentifier(object) else { return }
        let reference = Clearing.Reference(
            object: object, slot: slot, row: object.encodedRow(), wasAssigned: mask(object).contains(slot))
        clearings[deleting, default: Clearing()].references.append(reference)
    }

    /// Notes that a pair is about to be removed, because of the object that is being deleted.
    func willRemove(_ pair: Pair, _ key: LinkKey) {
        guard let deleting else { return }
        clearings[deleting, default: Clearing()].removals.append(.init(key: key, pair: pair, former: links[key]?[pair]))
    }

    /// Gives back what the deletion of an object took from objects that are still there.
    func restore(_ clearing: Clearing, _ schema: Schema) {
        for reference in clearing.references.reversed() where !reference.object.isDeletedObject { restore(reference) }
        let gone = Set(deleted.map { Place(store: Int($0._store), root: $0.description.root, key: $0._key) })
        for removal in clearing.removals.reversed() {
            let link = schema.links[removal.key.link], store = removal.key.store
            let owner = Place(store: store, root: schema[link.owner].root, key: removal.pair.owner)
            let member = Place(store: store, root: schema[link.member].root, key: removal.pair.member)
            if !gone.contains(owner), !gone.contains(member) { links[removal.key]?[removal.pair] = removal.former }
        }
        links = links.filter { !$0.value.isEmpty }
    }

    private struct Place: Hashable {
        let store: Int
        let root: EntityIndex
        let key: Int64
    }

    private func restore(_ reference: Clearing.Reference) {
        let object = reference.object, bit = UInt64(1) << UInt64(min(reference.slot, 63))
        // What was assigned since stays.
        let present = object.encodedRow()
        guard withExtendedLifetime(present, { present.row(0)[reference.slot].isNull }) else { return }
        withExtendedLifetime(reference.row) { object._reload(reference.row.row(0), bit) }
        if reference.wasAssigned || object.isNew || reference.slot >= 63 { return }
        object._dirty &= ~bit
        if object._dirty != 0 { return }
        changed.removeAll { $0 === object }
        bases[ObjectIdentifier(object)] = nil
    }
}
