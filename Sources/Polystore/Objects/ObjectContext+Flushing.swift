internal import PolystoreStorage

extension ObjectContext {
    /// Brings the pending changes to the stores, so that a fetch sees them.
    ///
    /// - Parameter isLast: Whether nobody can ask any more which attributes were assigned.
    func flush(isLast: Bool = false) throws(StorageError) {
        guard let tracker, let sessions, tracker.hasPending else { return }
        try throwFailure()
        for (store, changes) in tracker.changeSets(model.schema).sorted(by: { $0.key < $1.key }) where !changes.isEmpty {
            try sessions.apply(changes, to: store)
        }
        if !isLast, model.hasRules || model.hasSaveAware {
            for object in [tracker.inserted, tracker.changed].joined() where model.isChecked[Int(object._entity)] {
                tracker.unchecked.append(object)
            }
        }
        tracker.didFlush(isLast: isLast)
    }
}
