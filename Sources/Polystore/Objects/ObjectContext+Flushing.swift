internal import PolystoreStorage

extension ObjectContext {
    /// Brings the pending changes to the stores, so that a fetch sees them.
    ///
    /// A violated constraint undoes the whole, so that what is in the way can be corrected: the objects are as they were. Any other error
    /// leaves the transaction without a way on, and need not be guarded against. Nor need the last flush, after which nothing follows.
    /// - Parameter isLast: Whether nobody can ask any more which attributes were assigned.
    func flush(isLast: Bool = false) throws(StorageError) {
        guard let tracker, let sessions, tracker.hasPending else { return }
        try throwFailure()
        let sets = tracker.changeSets(model.schema).filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        func write() throws(StorageError) { for (store, changes) in sets { try sessions.apply(changes, to: store) } }
        if !isLast, sets.contains(where: { $0.value.touchesUniqueValues(model.schema) }) {
            try sessions.atomically(write)
        } else {
            try write()
        }
        if !isLast, model.hasRules || model.hasSaveAware {
            for object in [tracker.inserted, tracker.changed].joined() where model.isChecked[Int(object._entity)] {
                tracker.unchecked.append(object)
                if let rules = model.rules[Int(object._entity)] { tracker.keepUnassigned(object, rules) }
            }
        }
        tracker.didFlush(isLast: isLast)
    }

    /// Looks something up of which the pending changes are part: for relationships and deletions, not for fetches of the program.
    ///
    /// Values that violate a unique constraint between two assignments are no failure of a look-up. They stay pending, and are merged into
    /// what the stores answer as in detached work; the next fetch or the commit throws, if the violation is still there.
    func withPending<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) {
            try flush()
        } catch  where error.code == .uniqueConstraintViolated {
            // A store that could not undo the flush cannot go on.
            try sessions?.checkActive()
            let before = isFlushRefused
            isFlushRefused = true
            defer { isFlushRefused = before }
            return try body()
        }
        return try body()
    }
}

extension ChangeSet {
    /// Whether two objects could agree in a unique constraint afterwards.
    fileprivate func touchesUniqueValues(_ schema: Schema) -> Bool {
        entities.contains { change in
            let constraints = schema[change.entity].uniqueConstraints
            if constraints.isEmpty { return false }
            return change.inserts != nil
                || change.updates.contains { update in constraints.contains { $0.slots.contains(where: update.mask.contains) } }
        }
    }
}
