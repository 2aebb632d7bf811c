internal import PolystoreStorage

/// The properties of a detached transaction that could not be loaded. What is assigned to one of them before it was loaded may be computed
/// from the placeholder that was returned instead, such as an empty list to which a member was added, and must not replace the stored value.
struct FailedLoads {
    struct Property: Hashable {
        let store: Int32
        let root: EntityIndex
        let key: Int64
        let name: String
    }

    enum State {
        /// The property was not loaded since the failure.
        case failed
        /// An assignment of the relationship was refused.
        case refused
        /// The relationship was loaded after an assignment was refused, and was not assigned since.
        case reloaded
    }

    private(set) var loads: [Property: (state: State, error: StorageError)] = [:]

    var isEmpty: Bool { loads.isEmpty }

    /// Records that a property could not be loaded.
    mutating func fail(_ property: Property, _ error: StorageError) {
        loads[property] = (loads[property] == nil ? .failed : (loads[property]?.state == .failed ? .failed : .refused), error)
    }

    /// Records that a relationship was loaded.
    mutating func succeed(_ property: Property) {
        guard let state = loads[property]?.state else { return }
        if state == .failed { loads[property] = nil } else { loads[property]?.state = .reloaded }
    }

    /// Returns the error for which an assignment of a relationship must be refused; nil if it was loaded, or its load never failed.
    mutating func refusal(_ property: Property) -> StorageError? {
        guard let load = loads[property] else { return nil }
        if load.state == .reloaded {
            loads[property] = nil
            return nil
        }
        loads[property]?.state = .refused
        return load.error
    }

    /// Discards the failures for an object, whose values are replaced by those of a row.
    mutating func forget(_ object: ManagedObject, where isForgotten: (String) -> Bool = { _ in true }) {
        let (store, root, key) = (object._store, object.description.root, object._key)
        loads = loads.filter { $0.key.key != key || $0.key.store != store || $0.key.root != root || !isForgotten($0.key.name) }
    }

    /// Returns to the assignments of another moment. What was assigned then without its stored value is so again, although the property may
    /// have been loaded since. A failure whose property was not assigned then stays: its placeholder may be assigned again.
    ///
    /// - Parameters:
    ///   - former: The failures of that moment.
    ///   - isAssigned: Whether an attribute was assigned at that moment.
    mutating func restore(_ former: FailedLoads, isAssigned: (Property) -> Bool) {
        loads = loads.filter { !isAssigned($0.key) }
        for property in loads.keys { loads[property]?.state = .failed }
        for (property, load) in former.loads where load.state != .failed || isAssigned(property) { loads[property] = load }
    }
}

extension ObjectContext {
    private func property(_ object: ManagedObject, _ name: String) -> FailedLoads.Property {
        FailedLoads.Property(store: object._store, root: object.description.root, key: object._key, name: name)
    }

    /// Records that a property could not be loaded, if the transaction does not end with the error.
    func didFailToLoad(_ object: ManagedObject, _ name: String, _ error: StorageError) {
        didFailToLoad(property(object, name), error)
    }

    func didFailToLoad(_ property: @autoclosure () -> FailedLoads.Property, _ error: StorageError) {
        if sessions == nil, !isReading { tracker?.failedLoads.fail(property(), error) }
    }

    /// Records that a relationship was loaded.
    func didLoad(_ object: ManagedObject, _ name: @autoclosure () -> String) {
        if let tracker, !tracker.failedLoads.isEmpty { tracker.failedLoads.succeed(property(object, name())) }
    }

    /// Records that the unfetched slots of an object are about to be set from a row. Assigned slots keep their values.
    func willFill(_ object: ManagedObject) {
        guard let tracker, !tracker.failedLoads.isEmpty else { return }
        let assigned = tracker.mask(object)
        tracker.failedLoads.forget(object) { name in object.description.slot(name).map { !assigned.contains($0) } ?? false }
    }

    /// Records that all values of an object are about to be replaced by those of a row.
    func willReplace(_ object: ManagedObject) {
        if let tracker, !tracker.failedLoads.isEmpty { tracker.failedLoads.forget(object) }
    }

    /// Whether an assignment of a relationship must be refused because its load failed. Records the error in this case.
    func refusesUnread(_ object: ManagedObject, _ name: @autoclosure () -> String) -> Bool {
        guard let tracker, !tracker.failedLoads.isEmpty, let error = tracker.failedLoads.refusal(property(object, name())) else {
            return false
        }
        fail(error)
        return true
    }

    /// Throws the error of a failed load after which its property was assigned.
    func checkFailedLoads() throws(StorageError) {
        guard let tracker, !tracker.failedLoads.isEmpty else { return }
        for (property, load) in tracker.failedLoads.loads where load.state != .failed || isAssigned(property, tracker) {
            let entity = model.schema[property.root].name
            if loadError == load.error { forgetFailure() }
            throw StorageError(
                load.error.code,
                "\(load.error.message); \(entity).\(property.name) was assigned after this, without its stored value: discard that with "
                    + "rollback, and assign it again",
                details: load.error.details, cause: load.error.cause)
        }
    }

    /// Whether an attribute is assigned, and its object not deleted. Relationships are not assigned while they cannot be loaded.
    private func isAssigned(_ property: FailedLoads.Property, _ tracker: ChangeTracker) -> Bool {
        object(of: property)?.isDeletedObject == false && isDirty(property, tracker)
    }

    /// Whether an attribute is assigned, also of an object that was deleted since.
    func isDirty(_ property: FailedLoads.Property, _ tracker: ChangeTracker) -> Bool {
        guard let object = object(of: property), let slot = object.description.slot(property.name),
            object.description.slots[slot].attribute != nil
        else { return false }
        return tracker.mask(object).contains(slot)
    }

    private func object(of property: FailedLoads.Property) -> ManagedObject? {
        identityMap(property.root, Int(property.store)).find(property.key)
    }
}
