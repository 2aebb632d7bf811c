internal import PolystoreStorage

/// The states to which a detached transaction can return.
struct UndoHistory {
    /// The pending changes at one point, with the values of the affected objects.
    struct State {
        fileprivate struct Saved {
            let object: ManagedObject
            let values: SavedRow
            let dirty: UInt64
            let flags: UInt16
        }

        fileprivate var inserted = ContiguousArray<ManagedObject>()
        fileprivate var changed = ContiguousArray<ManagedObject>()
        fileprivate var deleted = ContiguousArray<ManagedObject>()
        fileprivate var bases: [ObjectIdentifier: SavedRow] = [:]
        fileprivate var highSlots: [ObjectIdentifier: SlotMask] = [:]
        fileprivate var links: [ChangeTracker.LinkKey: [ChangeTracker.Pair: Int64?]] = [:]
        fileprivate var reranked: [ChangeTracker.LinkKey: Set<ChangeTracker.Pair>] = [:]
        fileprivate var restored: [ChangeTracker.LinkKey: Set<ChangeTracker.Pair>] = [:]
        fileprivate var stored: [ChangeTracker.LinkKey: Set<ChangeTracker.Pair>] = [:]
        fileprivate var assignedSince: [ChangeTracker.ClearedReference: Int] = [:]
        fileprivate var lists: [ChangeTracker.LinkKey: [Int64: ListMerge.Origin]] = [:]
        fileprivate var clearings: [ObjectIdentifier: ChangeTracker.Clearing] = [:]
        fileprivate var implied: Set<ChangeTracker.ClearedReference> = []
        fileprivate var deletions: [[ManagedObject]] = []
        fileprivate var recounted = RewindableDictionary<ChangeTracker.Recount, Void>()
        fileprivate var saved: [ObjectIdentifier: Saved] = [:]
        fileprivate let failedLoads: FailedLoads

        init(_ tracker: ChangeTracker) {
            failedLoads = tracker.failedLoads
            (inserted, changed, deleted) = (tracker.inserted, tracker.changed, tracker.deleted)
            (bases, highSlots, clearings) = (tracker.bases, tracker.highSlots, tracker.clearings)
            (implied, deletions, recounted) = (tracker.implied, tracker.deletions, tracker.recounted)
            (links, reranked, restored) = (tracker.links, tracker.reranked, tracker.restored)
            (stored, lists, assignedSince) = (tracker.stored, tracker.lists, tracker.assignedSince)
            // Nothing is loaded: to look at a state must not fail.
            for object in tracker.pendingObjects {
                saved[ObjectIdentifier(object)] = Saved(
                    object: object, values: SavedRow(presentOf: object), dirty: object._dirty, flags: object._flags)
            }
        }

        /// Restores a context to this state.
        func restore(_ context: ObjectContext, _ tracker: ChangeTracker) {
            for object in tracker.pendingObjects where saved[ObjectIdentifier(object)] == nil {
                object.takeBack(to: tracker.bases[ObjectIdentifier(object)])
            }
            for saved in saved.values {
                saved.values.restore(saved.object)
                saved.object._dirty = saved.dirty
                saved.object._flags = saved.flags
            }
            (tracker.inserted, tracker.changed, tracker.deleted) = (inserted, changed, deleted)
            (tracker.bases, tracker.highSlots, tracker.clearings) = (bases, highSlots, clearings)
            (tracker.implied, tracker.deletions, tracker.recounted) = (implied, deletions, recounted)
            (tracker.links, tracker.reranked, tracker.restored) = (links, reranked, restored)
            (tracker.stored, tracker.lists, tracker.assignedSince) = (stored, lists, assignedSince)
            tracker.failedLoads.restore(failedLoads) { context.isDirty($0, tracker) }
            // The destinations of to-many relationships are determined again, from the store and the pending changes.
            tracker.knowsMembersOfNewObjects = false
            context.forgetRelationships()
        }

        /// Whether another state has the same pending changes with the same values.
        ///
        /// - Parameter areLinksSame: Whether no pair was changed in between, although pairs may have been merged.
        func isSame(as other: State, areLinksSame: Bool) -> Bool {
            guard inserted == other.inserted, changed == other.changed, deleted == other.deleted,
                areLinksSame || links == other.links, saved.count == other.saved.count
            else { return false }
            return saved.allSatisfy { identity, one in
                // What was loaded in between is no change.
                guard let two = other.saved[identity], one.dirty == two.dirty,
                    (one.flags ^ two.flags) & ~ManagedObject.Flags.slow == 0
                else { return false }
                return one.values.isSame(as: two.values, of: one.object)
            }
        }
    }

    private var undo: [State] = []
    private var redo: [State] = []
    /// The state that the last undo or redo restored, until the next mark, and the number of changes of pairs then.
    private var reached: (state: State, linkChanges: Int)?

    /// Marks a state to return to, and before it the state that the last undo or redo restored, if something was changed since. Undone
    /// changes can no longer be redone.
    mutating func mark(_ tracker: ChangeTracker) {
        let present = State(tracker)
        if let reached, !isReached(present, tracker) { undo.append(reached.state) }
        undo.append(present)
        redo.removeAll()
        reached = nil
    }

    /// Returns to the newest mark, or returns false if there is none, or only the beginning without a change since.
    mutating func undo(_ context: ObjectContext, _ tracker: ChangeTracker) -> Bool {
        let present = State(tracker)
        endRedo(present, tracker)
        if let reached, !isReached(present, tracker) { undo.append(reached.state) }
        if isBeginning(present) { return false }
        guard let state = undo.popLast() else { return false }
        redo.append(present)
        go(to: state, context, tracker)
        return true
    }

    /// Whether there is a state to which `undo` would return.
    func canUndo(_ tracker: ChangeTracker) -> Bool {
        let present = State(tracker)
        return !isReached(present, tracker) || !undo.isEmpty && !isBeginning(present)
    }

    /// Whether there is a state to which `redo` would return.
    func canRedo(_ tracker: ChangeTracker) -> Bool { !redo.isEmpty && isReached(State(tracker), tracker) }

    /// Whether the only mark left is the state that a transaction has at its beginning, or after a commit, and it is the present one.
    private func isBeginning(_ present: State) -> Bool { undo.count == 1 && undo[0].isSame(as: present, areLinksSame: false) }

    /// Restores the state before the last undo. Returns false if there is none, or if changes were made since.
    mutating func redo(_ context: ObjectContext, _ tracker: ChangeTracker) -> Bool {
        let present = State(tracker)
        endRedo(present, tracker)
        guard let state = redo.popLast() else { return false }
        undo.append(present)
        go(to: state, context, tracker)
        return true
    }

    /// Discards the redo states if changes were made since the last undo.
    private mutating func endRedo(_ present: State, _ tracker: ChangeTracker) { if !isReached(present, tracker) { redo.removeAll() } }

    /// Whether nothing was changed since the last undo or redo, if there was one.
    private func isReached(_ present: State, _ tracker: ChangeTracker) -> Bool {
        reached.map { $0.state.isSame(as: present, areLinksSame: $0.linkChanges == tracker.linkChanges) } ?? true
    }

    private mutating func go(to state: State, _ context: ObjectContext, _ tracker: ChangeTracker) {
        state.restore(context, tracker)
        reached = (state, tracker.linkChanges)
    }

    /// Discards all states and marks the present one.
    mutating func begin(_ tracker: ChangeTracker) {
        undo = [State(tracker)]
        redo.removeAll()
        reached = nil
    }
}

extension ManagedObject {
    /// Reverts the object to the values of a row. A new object is marked as deleted.
    fileprivate func takeBack(to base: SavedRow?) {
        _dirty = 0
        if isNew {
            _flags |= Flags.deleted
            return
        }
        _flags &= ~Flags.deleted
        base?.restore(self)
    }
}

extension ChangeTracker {
    /// Reverts each object with a pending change.
    func takeBack() {
        for object in pendingObjects {
            object.takeBack(to: bases[ObjectIdentifier(object)])
            object.forgetRelationships()
        }
    }

    /// The objects with a pending change, without duplicates.
    var pendingObjects: [ManagedObject] {
        var seen: Set<ObjectIdentifier> = []
        return [inserted, changed, deleted].joined().filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
}
