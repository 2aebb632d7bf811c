internal import PolystoreStorage

extension ObjectContext {
    /// Writes the pending changes to the stores, so that a fetch includes them.
    ///
    /// A violated constraint undoes the whole write, and nothing is written if the destination of a reference does not exist, so that the
    /// values can be corrected: the objects are unchanged. After any other error the transaction cannot continue, so that no protection is required. The same applies to the last write, which is not
    /// followed by further work.
    /// - Parameter isLast: Whether this is the last write, so that the masks of assigned slots are no longer needed.
    func flush(isLast: Bool = false) throws(StorageError) {
        guard let tracker, let sessions, tracker.hasPending else { return }
        try throwFailure()
        try checkReferences(of: [tracker.inserted, tracker.changed].joined())
        let sets = tracker.changeSets(model.schema).filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        func write() throws(StorageError) { for (store, changes) in sets { try sessions.apply(changes, to: store) } }
        var isRefusable = false
        for (store, changes) in sets where !isRefusable && !isLast {
            isRefusable = try stack.store(store).checksEachWrite
            if changes.touchesUniqueValues(model.schema) { isRefusable = true }
        }
        if isRefusable {
            try sessions.atomically(write)
        } else {
            try write()
        }
        if !isLast, model.hasRules || model.hasSaveAware {
            for object in [tracker.inserted, tracker.changed].joined() where model.isChecked[Int(object._entity)] {
                tracker.written.unchecked.append(object)
                guard let rules = model.rules[Int(object._entity)] else { continue }
                tracker.keepUnassigned(object, rules)
                tracker.recount(new: object, rules)
            }
        }
        tracker.didFlush(isLast: isLast)
    }

    /// Runs a lookup that must include the pending changes: for relationships and deletions, not for fetches of the program.
    ///
    /// Values that violate a unique constraint between two assignments, or a rule of a database's own tables, do not fail the lookup. They
    /// stay pending, and are merged with the results of the stores as in a detached transaction. The next fetch throws if the violation of
    /// the constraint persists, the commit if that of the rule does.
    func withPending<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) {
            try flush()
        } catch  where error.code == .uniqueConstraintViolated || error.isOfUnfinishedObject {
            // A store that could not undo the write cannot continue.
            try sessions?.checkActive()
            let before = refusal
            refusal = error
            defer { refusal = before }
            return try body()
        }
        return try body()
    }

    /// Writes the pending changes before a fetch of the program, as far as the stores accept them.
    ///
    /// The tables of another program require values that the closure may assign only after the fetch. Such changes stay pending, and the
    /// fetch merges them with the results of the stores.
    func flushBeforeFetch() throws(StorageError) {
        refusal = nil
        do throws(StorageError) {
            try flush()
        } catch  where error.isOfUnfinishedObject {
            try sessions?.checkActive()
            refusal = error
        }
    }

    /// Throws if there are pending changes that a store refused, for work that the stores do themselves.
    func checkFlushed() throws(StorageError) {
        guard hasDetachedChanges, let refusal else { return }
        throw StorageError(
            refusal.code,
            "\(refusal.message); this call requires that all earlier changes are in the store: assign the value before it, or create the "
                + "object after it",
            details: refusal.details, cause: refusal)
    }
}

extension StorageError {
    /// Whether a store, whose own error is the cause, refuses values that are not assigned yet or violate a rule of its tables.
    fileprivate var isOfUnfinishedObject: Bool { code == .validationFailed && cause != nil }
}

extension ChangeSet {
    /// Whether two objects could have equal values in a unique constraint after the changes.
    fileprivate func touchesUniqueValues(_ schema: Schema) -> Bool {
        entities.contains { change in
            let constraints = schema[change.entity].uniqueConstraints
            if constraints.isEmpty { return false }
            return change.inserts != nil
                || change.updates.contains { update in constraints.contains { $0.slots.contains(where: update.mask.contains) } }
        }
    }
}
