public import PolystoreStorage

/// Monitors that see what the transaction has changed and not yet committed. They belong to the thread that the transaction belongs to.
extension UnsafeTransaction {
    /// Follows the objects of a request as the transaction sees them.
    ///
    /// Observers are told when `flush`, `commit`, `rollback`, `refresh`, `undo` or `redo` is called. The whole list is judged anew then.
    /// - Throws: What a fetch of the request throws.
    public func monitorList<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, nil)
    }

    /// Follows the objects of a request in sections, as the transaction sees them.
    ///
    /// - Throws: `invalidPredicate` where the order does not keep sections together; what a fetch of the request throws.
    public func monitorSectionedList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, sectionBy)
    }

    private func monitor<Object: ManagedObject>(
        _ from: From<Object>, _ sectionBy: SectionBy<Object>?
    ) throws(StorageError) -> ListMonitor<Object> {
        try reporting { () throws(StorageError) in
            let engine = ListEngine(try ListQuery(from, sectionBy, core.model), core)
            try engine.fetch(in: try _fetchContext)
            let monitor = ListMonitor(from, sectionBy, engine, self)
            monitors.add(monitor)
            return monitor
        }
    }

    /// Follows an object as the transaction sees it; one of another context is looked up here. When its observers are told that it is about
    /// to change it has its new values already.
    ///
    /// - Throws: `notFound` when there is no such object any more; whatever reading throws.
    public func monitorObject<Object: ManagedObject>(_ object: Object) throws(StorageError) -> ObjectMonitor<Object> {
        try reporting { () throws(StorageError) in
            guard let own = try edit(object) else {
                throw StorageError(
                    .notFound, "there is no \(Object.self) \(object._key) to follow", details: .init(entity: object.description.name))
            }
            let monitor = try ObjectMonitor(own, self)
            monitors.add(monitor)
            return monitor
        }
    }

    /// Follows one property of an object of this transaction.
    ///
    /// - Returns: The observation, which lasts as long as it is held.
    public func observe<Object: ManagedObject, Value: Equatable>(
        _ object: Object, _ keyPath: KeyPath<Object, Value>, notifyInitial: Bool = false,
        _ body: @escaping (Object, PropertyChange<Value>) -> Void
    ) -> PropertyObservation<Object, Value> {
        let observation = PropertyObservation(object, keyPath, self, body)
        monitors.add(observation)
        if notifyInitial { observation.begin() }
        return observation
    }

    /// Tells the monitors of the transaction what has changed since the last time; nothing is written.
    ///
    /// - Throws: Whatever reading throws; nobody was told anything then.
    public func flush() throws(StorageError) {
        try reporting { () throws(StorageError) in
            let context = try _fetchContext
            try context.throwFailure()
            // Asked for by an observer that is just being told: the others are told first.
            tellsAgain = isTelling
            if isTelling { return }
            isTelling = true
            defer { isTelling = false }
            repeat {
                tellsAgain = false
                var concerned: [any HomeMonitor] = []
                for monitor in monitors.alive where try monitor.preparePending() { concerned.append(monitor) }
                for monitor in concerned { monitor.willChange(sourceIdentifier) }
                for monitor in concerned { monitor.didChange(sourceIdentifier) }
            } while tellsAgain
        }
    }

    /// The same after something that has succeeded. What cannot be read now was reported to the logger, and is told the next time: the
    /// lists are judged as a whole then.
    func tellMonitors() { if !monitors.alive.isEmpty { try? flush() } }
}

extension UnsafeTransaction: MonitorHome {
    func remove(_ monitor: any HomeMonitor) { monitors.remove(monitor) }
}
