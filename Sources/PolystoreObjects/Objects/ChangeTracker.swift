internal import PolystoreStorage

/// The changes of a transaction that are not yet in the store, and the data that is required to check them at commit.
package final class ChangeTracker {
    struct LinkKey: Hashable {
        let link: Int
        let store: Int
    }

    struct Pair: Hashable {
        let owner: Int64
        let member: Int64
    }

    /// New objects, in the order of their creation. Objects that were deleted again are skipped when writing.
    @exclusivity(unchecked) var inserted = ContiguousArray<ManagedObject>()
    /// Objects with assignments, in the order of their first assignment.
    @exclusivity(unchecked) var changed = ContiguousArray<ManagedObject>()
    /// Objects to be deleted.
    var deleted = ContiguousArray<ManagedObject>()
    /// The rows of changed objects before the first assignment, if versions are compared at commit.
    var bases: [ObjectIdentifier: SavedRow] = [:]
    /// The changes that deletions made to other objects, if the deletions may be abandoned.
    var clearings: [ObjectIdentifier: Clearing] = [:]
    /// The number of references that deletions have set to nil since the beginning.
    var clearingCount = 0
    /// The references that were assigned after deletions, with the value of `clearingCount` then.
    var assignedSince: [ClearedReference: Int] = [:]
    /// The references that are nil only because their other end was assigned, in a detached transaction.
    var implied: Set<ClearedReference> = []
    /// The deletions that may be abandoned or repeated, in their order. Each has the objects that it names, without those that its delete
    /// rules reach.
    var deletions: [[ManagedObject]] = []
    /// The object whose deletion is removing its relationships, if the deletion may be abandoned.
    var deleting: ObjectIdentifier?
    /// The assigned slots from 63 upwards.
    var highSlots: [ObjectIdentifier: SlotMask] = [:]
    /// Pairs to be added, with their rank, or to be removed (nil).
    var links: [LinkKey: [Pair: Int64?]] = [:]
    /// The pairs of `links` that existed before and only get another rank, which does not imply that they must exist.
    var reranked: [LinkKey: Set<Pair>] = [:]
    /// The pairs of `links` that are to be added and were removed before, so that they are in the store.
    var restored: [LinkKey: Set<Pair>] = [:]
    /// The pairs of `links` that are to be added and that another transaction has added, so that they are in the store.
    var stored: [LinkKey: Set<Pair>] = [:]
    /// The number of changes of pairs since the beginning. A merge with the changes of other transactions is none.
    private(set) var linkChanges = 0
    /// The ordered relationships that were changed in a detached transaction, by owner.
    var lists: [LinkKey: [Int64: ListMerge.Origin]] = [:]
    /// The to-many relationships with limits whose members changed.
    var recounted = RewindableDictionary<Recount, Void>()
    /// Whether the members of a new object are exactly those added since its creation. False after an undo.
    var knowsMembersOfNewObjects = true
    /// The properties of a detached transaction that could not be loaded.
    var failedLoads = FailedLoads()
    /// The changes that were written to the stores and are not yet committed.
    var written = Written()

    /// Changes that are in the stores but not yet committed. The lists only grow, until the commit or the end of a part that failed.
    struct Written {
        var inserted = ContiguousArray<ManagedObject>()
        var changed = ContiguousArray<ManagedObject>()
        var deleted = ContiguousArray<ManagedObject>()
        /// Objects whose rows were deleted by statements, which report their own counts.
        var gone = ContiguousArray<ManagedObject>()
        /// The assigned slots of each changed object.
        var masks = RewindableDictionary<ObjectIdentifier, SlotMask>()
        /// The slots of new objects that must be assigned and were not.
        var unassigned = RewindableDictionary<ObjectIdentifier, SlotMask>()
        /// Objects with rules, which must be checked at commit.
        var unchecked = ContiguousArray<ManagedObject>()
        /// The objects that an upsert has updated and whose own rules must be checked at commit.
        var upserted = ContiguousArray<ManagedObject>()
        /// Whether link tables changed.
        var hasLinks = false
        /// Rows that were written without objects.
        var rows = Rows()

        var isEmpty: Bool {
            inserted.isEmpty && changed.isEmpty && deleted.isEmpty && !hasLinks && !rows.isWritten
        }
    }

    /// A state without pending changes. It has the lengths of lists instead of copies, which each part of a transaction would make.
    struct Mark {
        fileprivate let inserted, changed, deleted, gone, unchecked, upserted: Int
        fileprivate let masks, unassigned, recounted: Int
        fileprivate let hasLinks: Bool
        fileprivate let rows: Rows
    }

    /// Rows that were written without objects.
    struct Rows {
        /// Whether any rows were written, including rows changed by statements of the program.
        var isWritten = false
        var counts = Measured.Counts()
    }

    var hasPending: Bool { !inserted.isEmpty || !changed.isEmpty || !deleted.isEmpty || !links.isEmpty }
    var hasChanges: Bool { hasPending || !written.isEmpty }

    /// Schedules the addition of a pair.
    func link(_ link: Int, _ store: Int, _ pair: LinkPair) {
        let key = LinkKey(link: link, store: store), rank = pair.rank, pair = Pair(owner: pair.owner, member: pair.member)
        linkChanges &+= 1
        if reranked[key]?.remove(pair) != nil || links[key]?[pair] == .some(nil) { restored[key, default: []].insert(pair) }
        links[key, default: [:]][pair] = .some(rank)
    }

    /// Records that a pair is in the store, if it is to be added: its removal must then remove it from the store.
    func keepStored(_ pair: Pair, _ key: LinkKey) {
        if (links[key]?[pair] ?? nil) != nil, reranked[key]?.contains(pair) != true { stored[key, default: []].insert(pair) }
    }

    /// Assigns another rank to an existing pair. The new rank of a pair that is yet to be added becomes part of the addition.
    func rerank(_ table: Int, _ store: Int, _ link: LinkPair) {
        linkChanges &+= 1
        setRank(LinkKey(link: table, store: store), link)
    }

    /// Assigns another rank to a pair, as `rerank` does, because of a merge with the changes of other transactions.
    func setRank(_ key: LinkKey, _ link: LinkPair) {
        let pair = Pair(owner: link.owner, member: link.member)
        if links[key]?[pair] == nil { reranked[key, default: []].insert(pair) }
        links[key, default: [:]][pair] = .some(link.rank)
    }

    /// - Parameter isPending: Whether the pair cannot be in the store, so that no stored pair has to be removed.
    func unlink(_ link: Int, _ store: Int, owner: Int64, member: Int64, isPending: Bool) {
        let key = LinkKey(link: link, store: store), pair = Pair(owner: owner, member: member)
        willRemove(pair, key)
        linkChanges &+= 1
        let isStored = reranked[key]?.contains(pair) == true || restored[key]?.contains(pair) == true || stored[key]?.contains(pair) == true
        let isAdded = (links[key]?[pair] ?? nil) != nil && !isStored
        // The removal of an addition is none: another transaction may have added the same pair.
        if isPending || isAdded {
            links[key]?[pair] = nil
            if links[key]?.isEmpty == true { links[key] = nil }
        } else {
            links[key, default: [:]][pair] = .some(nil)
        }
    }

    /// Returns the slots of an object that its rules require to be assigned and that never were.
    @inline(__always)
    func unassigned(_ object: ManagedObject, _ rules: EntityRules) -> SlotMask {
        // The common case. The lookup costs more than all other checks of an object.
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

    /// Records the slots of an object that remain to be assigned after its changes are written.
    func keepUnassigned(_ object: ManagedObject, _ rules: EntityRules) {
        let slots = unassigned(object, rules)
        if !slots.isEmpty || !written.unassigned.isEmpty { written.unassigned[ObjectIdentifier(object)] = slots.isEmpty ? nil : slots }
    }

    /// Removes the slots that a batch has assigned from those that are still to be assigned.
    func assign(_ mask: SlotMask, of keys: some Sequence<Int64>, in map: @autoclosure () -> IdentityMap) {
        if written.unassigned.isEmpty { return }
        let map = map()
        for object in keys.lazy.compactMap(map.find).map(ObjectIdentifier.init) {
            guard var slots = written.unassigned[object] else { continue }
            slots.subtract(mask)
            written.unassigned[object] = slots.isEmpty ? nil : slots
        }
    }

    /// Updates the state after all pending changes were written.
    func didFlush(isLast: Bool) {
        for object in inserted {
            object._flags &= ~ManagedObject.Flags.new
            object._dirty = 0
            object._version = 1
        }
        for object in changed where object._dirty != 0 {
            if !isLast {
                var assigned = written.masks[ObjectIdentifier(object)] ?? SlotMask()
                assigned.formUnion(mask(object))
                written.masks[ObjectIdentifier(object)] = assigned
            }
            object._dirty = 0
            object._version &+= 1
        }
        // Entries for the rows of a batch, which are in none of the lists, are still needed.
        if !highSlots.isEmpty { for object in [inserted, changed, deleted].joined() { highSlots[ObjectIdentifier(object)] = nil } }
        // The lists are swapped the first time, because appending would retain each object.
        if written.inserted.isEmpty { swap(&written.inserted, &inserted) } else { written.inserted += inserted }
        if written.changed.isEmpty { swap(&written.changed, &changed) } else { written.changed += changed }
        written.deleted += deleted
        if !links.isEmpty { written.hasLinks = true }
        inserted.removeAll(keepingCapacity: true)
        changed.removeAll(keepingCapacity: true)
        deleted.removeAll(keepingCapacity: true)
        bases.removeAll(keepingCapacity: true)
        clearings.removeAll()
        implied.removeAll()
        deletions.removeAll()
        links.removeAll(keepingCapacity: true)
        reranked.removeAll()
        restored.removeAll()
        stored.removeAll()
        lists.removeAll()
        assignedSince.removeAll()
    }

    /// Updates the state after all changes were committed.
    func didCommit() {
        recounted = RewindableDictionary()
        written = Written()
    }

    /// Marks the present state, which has no pending changes.
    func mark() -> Mark {
        Mark(
            inserted: written.inserted.count, changed: written.changed.count, deleted: written.deleted.count, gone: written.gone.count,
            unchecked: written.unchecked.count, upserted: written.upserted.count, masks: written.masks.mark(),
            unassigned: written.unassigned.mark(), recounted: recounted.mark(), hasLinks: written.hasLinks, rows: written.rows)
    }

    /// Updates the state after all changes since a mark were undone.
    func rewind(to mark: Mark) {
        clearPending()
        func shorten(_ list: inout ContiguousArray<ManagedObject>, to count: Int) { list.removeLast(list.count - count) }
        shorten(&written.inserted, to: mark.inserted)
        shorten(&written.changed, to: mark.changed)
        shorten(&written.deleted, to: mark.deleted)
        shorten(&written.gone, to: mark.gone)
        shorten(&written.unchecked, to: mark.unchecked)
        shorten(&written.upserted, to: mark.upserted)
        written.masks.rewind(to: mark.masks)
        written.unassigned.rewind(to: mark.unassigned)
        recounted.rewind(to: mark.recounted)
        written.hasLinks = mark.hasLinks
        written.rows = mark.rows
    }

    /// Updates the state after all changes since the last commit were undone.
    func discard() {
        clearPending()
        failedLoads = FailedLoads()
        didCommit()
    }

    private func clearPending() {
        // Entries for the rows of a batch, which are in none of the lists, are still needed.
        for object in [inserted, changed, deleted].joined() { highSlots[ObjectIdentifier(object)] = nil }
        inserted.removeAll()
        changed.removeAll()
        deleted.removeAll()
        bases.removeAll()
        clearings.removeAll()
        implied.removeAll()
        deletions.removeAll()
        links.removeAll()
        reranked.removeAll()
        restored.removeAll()
        stored.removeAll()
        lists.removeAll()
        assignedSince.removeAll()
    }

    /// The numbers of written objects.
    var counts: Measured.Counts {
        let inserted = written.inserted.count { !$0.isDeletedObject }
        let rows = written.rows.counts
        return Measured.Counts(
            inserted: inserted + rows.inserted, updated: Set(written.changed.map(ObjectIdentifier.init)).count + rows.updated,
            deleted: written.deleted.count + rows.deleted)
    }

    /// The numbers of objects to be written.
    var pendingCounts: Measured.Counts {
        Measured.Counts(inserted: inserted.count { !$0.isDeletedObject }, updated: changed.count { !$0.isNew }, deleted: deleted.count)
    }

    /// Releases all objects. The transaction has ended, and none of them can be changed any more.
    func clear() {
        for object in [inserted, changed].joined() { object._dirty = 0 }
        discard()
        highSlots.removeAll()
    }
}
