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
        for object in tracker.inserted where !model.requiredReferences[Int(object._entity)].isEmpty { tracker.unchecked.append(object) }
        for object in tracker.changed where !model.requiredReferences[Int(object._entity)].isEmpty { tracker.unchecked.append(object) }
        tracker.didFlush(isLast: isLast)
    }

    /// Checks the rules of the model on everything that the transaction changed, all failures together.
    func validate() throws(StorageError) {
        guard let tracker else { return }
        var failures: [String] = [], keys: [Int64] = []
        var seen: Set<ObjectIdentifier> = []
        for objects in [tracker.unchecked, tracker.inserted, tracker.changed] {
            for object in objects where !object.isDeletedObject {
                let required = model.requiredReferences[Int(object._entity)]
                if required.isEmpty || !seen.insert(ObjectIdentifier(object)).inserted { continue }
                for slot in required where object._reference(slot) == nil {
                    failures.append("\(object.description.name).\(object.description.slots[slot].name) is required but nil")
                    keys.append(object._key)
                }
            }
        }
        guard let first = failures.first else { return }
        let more = failures.count > 1 ? " (and \(failures.count - 1) more)" : ""
        throw StorageError(.validationFailed, "\(first)\(more)", details: .init(keys: keys, failures: failures))
    }
}
