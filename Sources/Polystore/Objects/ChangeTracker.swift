internal import PolystoreStorage

/// The changes of a transaction that are not yet in the store, and what is needed to check them at commit.
final class ChangeTracker {
    struct LinkKey: Hashable {
        let link: Int
        let store: Int
    }

    struct Pair: Hashable {
        let owner: Int64
        let member: Int64
    }

    /// New objects, in order of creation; those deleted again are skipped when written.
    @exclusivity(unchecked) var inserted = ContiguousArray<ManagedObject>()
    /// Objects with assignments, in order of the first one.
    @exclusivity(unchecked) var changed = ContiguousArray<ManagedObject>()
    /// Objects to delete.
    var deleted = ContiguousArray<ManagedObject>()
    /// The rows of changed objects before the first assignment, where versions are compared at commit.
    var bases: [ObjectIdentifier: RowBatch] = [:]
    /// What deletions took from other objects, where they may be given up.
    var clearings: [ObjectIdentifier: Clearing] = [:]
    /// The object whose deletion ends its relationships, where that may be given up.
    var deleting: ObjectIdentifier?
    /// The slots from 63 on that were assigned.
    var highSlots: [ObjectIdentifier: SlotMask] = [:]
    /// Pairs to add with their rank, or to remove (nil).
    var links: [LinkKey: [Pair: Int64?]] = [:]
    /// The pairs of `links` that were there before and get another rank, which says nothing of whether they should be there.
    var reranked: [LinkKey: Set<Pair>] = [:]
    /// Objects with required relationships that were written before commit; they are checked then.
    var unchecked = ContiguousArray<ManagedObject>()
    /// The to-many relationships with limits whose members changed.
    var recounted: Set<Recount> = []
    /// Whether the members of a new object are those that were added since it was made; not after an undo.
    var knowsMembersOfNewObjects = true
    /// What was brought to the stores already and is not yet committed.
    var written = Written()

    /// Objects whose changes are in the stores, not yet committed.
    struct Written {
        var inserted = ContiguousArray<ManagedObject>()
        var changed = ContiguousArray<ManagedObject>()
        var deleted = ContiguousArray<ManagedObject>()
        /// Objects whose rows statements deleted, which counts them itself.
        var gone = ContiguousArray<ManagedObject>()
        /// The assigned slots of each changed object.
        var masks: [ObjectIdentifier: SlotMask] = [:]
        /// The slots of new objects that must be assigned and were not.
        var unassigned: [ObjectIdentifier: SlotMask] = [:]
        /// Whether link tables changed.
        var hasLinks = false
        /// Rows that were written without an object for each.
        var rows = Rows()

        var isEmpty: Bool {
            inserted.isEmpty && changed.isEmpty && deleted.isEmpty && !hasLinks && !rows.isWritten
        }
    }

    /// Rows that were written without an object for each.
    struct Rows {
        /// Whether there are any, those that statements of the program changed included.
        var isWritten = false
        var counts = Measured.Counts()
    }

    var hasPending: Bool { !inserted.isEmpty || !changed.isEmpty || !deleted.isEmpty || !links.isEmpty }
    var hasChanges: Bool { hasPending || !written.isEmpty }

    /// Adds a pair.
    func link(_ link: Int, _ store: Int, _ pair: Link) {
        let key = LinkKey(link: link, store: store)
        links[key, default: [:]][Pair(owner: pair.owner, member: pair.member)] = .some(pair.rank)
        reranked[key]?.remove(Pair(owner: pair.owner, member: pair.member))
    }

    /// Gives a pair that is there another rank; that of one which is yet to be added is part of the addition.
    func rerank(_ table: Int, _ store: Int, _ link: Link) {
        let key = LinkKey(link: table, store: store), pair = Pair(owner: link.owner, member: link.member)
        if links[key]?[pair] == nil { reranked[key, default: []].insert(pair) }
        links[key, default: [:]][pair] = .some(link.rank)
    }

    /// - Parameter isPending: Whether the pair cannot be in the store, so that nothing is left to remove there.
    func unlink(_ link: Int, _ store: Int, owner: Int64, member: Int64, isPending: Bool) {
        let key = LinkKey(link: link, store: store), pair = Pair(owner: owner, member: member)
        willRemove(pair, key)
        if isPending {
            links[key]?[pair] = nil
            if links[key]?.isEmpty == true { links[key] = nil }
        } else {
            links[key, default: [:]][pair] = .some(nil)
        }
    }

    /// The slots of an object that its rules want to be assigned and that never were.
    @inline(__always)
    func unassigned(_ object: ManagedObject, _ rules: EntityRules) -> SlotMask {
        // Nearly always: what is looked up costs more than all else that is checked of an object.
        let isAssigned = object.isNew ? rules.assignedBits & ~(object._dirty & ~(1 << 63)) == 0 : written.unassigned.isEmpty
        return isAssigned ? SlotMask() : knownUnassigned(object, rules)
    }

    private func knownUnassigned(_ object: ManagedObject, _ rules: EntityRules) -> SlotMask {
        guard var slots = object.isNew ? rules.assigned : written.unassigned[ObjectIdentifier(object)], !slots.isEmpty else {
            return SlotMask()
        }
        slots.subtract(mask(object))
        return slots
    }

    /// Remembers which slots of an object are still to be assigned after its changes are written.
    func keepUnassigned(_ object: ManagedObject, _ rules: EntityRules) {
        let slots = unassigned(object, rules)
        if !slots.isEmpty || !written.unassigned.isEmpty { written.unassigned[ObjectIdentifier(object)] = slots.isEmpty ? nil : slots }
    }

    /// Everything pending was written.
    func didFlush(isLast: Bool) {
        for object in inserted {
            object._flags &= ~ManagedObject.Flags.new
            object._dirty = 0
            object._version = 1
        }
        for object in changed where object._dirty != 0 {
            if !isLast { written.masks[ObjectIdentifier(object), default: SlotMask()].formUnion(mask(object)) }
            object._dirty = 0
            object._version &+= 1
        }
        // Those of the rows of a batch, which are in none of the lists, are still needed.
        if !highSlots.isEmpty { for object in [inserted, changed, deleted].joined() { highSlots[ObjectIdentifier(object)] = nil } }
        // The first time the lists change hands: adding them would count a reference for each object.
        if written.inserted.isEmpty { swap(&written.inserted, &inserted) } else { written.inserted += inserted }
        if written.changed.isEmpty { swap(&written.changed, &changed) } else { written.changed += changed }
        written.deleted += deleted
        if !links.isEmpty { written.hasLinks = true }
        inserted.removeAll(keepingCapacity: true)
        changed.removeAll(keepingCapacity: true)
        deleted.removeAll(keepingCapacity: true)
        bases.removeAll(keepingCapacity: true)
        clearings.removeAll()
        links.removeAll(keepingCapacity: true)
        reranked.removeAll()
    }

    /// Everything was committed.
    func didCommit() {
        unchecked.removeAll()
        recounted.removeAll()
        written = Written()
    }

    /// Everything since a moment at which nothing was pending was undone.
    func rewind(to before: Written) {
        clearPending()
        written = before
    }

    private func clearPending() {
        inserted.removeAll()
        changed.removeAll()
        deleted.removeAll()
        bases.removeAll()
        clearings.removeAll()
        highSlots.removeAll()
        links.removeAll()
        reranked.removeAll()
    }

    /// The numbers of objects that were written.
    var counts: Measured.Counts {
        let inserted = written.inserted.count { !$0.isDeletedObject }
        let rows = written.rows.counts
        return Measured.Counts(
            inserted: inserted + rows.inserted, updated: Set(written.changed.map(ObjectIdentifier.init)).count + rows.updated,
            deleted: written.deleted.count + rows.deleted)
    }

    /// The numbers of objects that are to be written.
    var pendingCounts: Measured.Counts {
        Measured.Counts(inserted: inserted.count { !$0.isDeletedObject }, updated: changed.count { !$0.isNew }, deleted: deleted.count)
    }

    /// Lets go of all objects; the transaction has ended, and none of them can be changed any more.
    func clear() {
        for object in [inserted, changed].joined() { object._dirty = 0 }
        clearPending()
        recounted.removeAll()
        unchecked.removeAll()
        written = Written()
    }
}
