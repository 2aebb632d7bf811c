public import PolystoreObjects

/// Monitors that include the uncommitted changes of the transaction. They belong to the same thread as the transaction.
extension UnsafeTransaction {
    /// Monitors the objects of a request as the transaction sees them.
    ///
    /// Observers are notified when `flush`, `commit`, `rollback`, `refresh`, `undo` or `redo` is called. The whole list is evaluated again
    /// at that point.
    /// - Throws: Any error of a fetch of the request.
    public func monitorList<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, nil)
    }

    /// Monitors the objects of a request in sections, as the transaction sees them.
    ///
    /// - Throws: `invalidPredicate` if the sort order does not keep sections together; any error of a fetch of the request.
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

    /// Monitors an object as the transaction sees it. An object of another context is looked up in this transaction. When its observers are
    /// notified that it is about to change, it already has its new values.
    ///
    /// - Throws: `notFound` if the object no longer exists; any error of reading.
    public func monitorObject<Object: ManagedObject>(_ object: Object) throws(StorageError) -> ObjectMonitor<Object> {
        try reporting { () throws(StorageError) in
            guard let own = try edit(object) else {
                throw StorageError(
                    .notFound, "\(Object.self) \(object._key) does not exist and cannot be observed",
                    details: .init(entity: object.description.name))
            }
            let monitor = try ObjectMonitor(own, self)
            monitors.add(monitor)
            return monitor
        }
    }

    /// Observes one property of an object of this transaction. If its value cannot be loaded, the transaction records the error, and the
    /// observation begins with the first value that can be.
    ///
    /// - Returns: The observation, which lasts as long as it is retained.
    public func observe<Object: ManagedObject, Value: Equatable>(
        _ object: Object, _ keyPath: KeyPath<Object, Value>, notifyInitial: Bool = false,
        _ body: @escaping (Object, PropertyChange<Value>) -> Void
    ) -> PropertyObservation<Object, Value> {
        let value = context.attempt { () throws(StorageError) in try object.load(keyPath) }
        let observation = PropertyObservation(object, keyPath, value, self, body)
        monitors.add(observation)
        if notifyInitial { observation.begin() }
        return observation
    }
}
