public import PolystoreObjects

extension ViewContext {
    /// Returns a monitor of an object. An object of another context is looked up in this one.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - isolation: The isolation that the context belongs to. Observers are called there, soon after each commit. Without an isolation,
    ///     `merge()` calls them.
    /// - Throws: `notFound` if the object no longer exists; the error of reading.
    public func monitorObject<Object: ManagedObject>(
        _ object: Object, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ObjectMonitor<Object> {
        let id = ObjectID<Object>(object._context.objectKey(of: object))
        return try monitorObject(id, isolation: isolation)
    }

    /// Returns a monitor of the object that an id, a snapshot or a publisher identifies.
    ///
    /// - Throws: `notFound` if there is none; the error of reading.
    public func monitorObject<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ObjectMonitor<Object> {
        let id = representation.objectID
        return try reporting { () throws(StorageError) in
            let context = try contextToObserve()
            guard let object = try context.existing(id) else {
                throw StorageError(
                    .notFound, "\(id.key.root) \(id.key.key) does not exist and cannot be observed", details: .init(entity: id.key.root))
            }
            let monitor = try ObjectMonitor(object, self)
            add(monitor, isolation: isolation)
            return monitor
        }
    }

    /// Returns a monitor of the objects of a request.
    ///
    /// - Parameters:
    ///   - from: The objects and their order. Without an order they are ordered by key.
    ///   - isolation: The isolation that the context belongs to. Observers are called there, soon after each commit. Without an isolation,
    ///     `merge()` calls them.
    /// - Throws: The error of a fetch of the request.
    public func monitorList<Object: ManagedObject>(
        _ from: From<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, nil, isolation)
    }

    /// Returns a monitor of the objects of a request in sections.
    ///
    /// - Parameters:
    ///   - from: The objects and their order, which must begin with the property of the sections.
    ///   - sectionBy: The sections.
    ///   - isolation: The isolation that the context belongs to.
    /// - Throws: `invalidPredicate` if the order does not keep sections together; the error of a fetch of the request.
    public func monitorSectionedList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, sectionBy, isolation)
    }

    /// Returns a monitor of the objects of a request after fetching them on a thread of the stack, so that the isolation of the context is
    /// not blocked.
    ///
    /// - Parameters:
    ///   - from: The objects and their order. Without an order they are ordered by key.
    ///   - sectionBy: The sections. If given, the order must begin with their property.
    ///   - isolation: The isolation that the context belongs to.
    /// - Returns: The list, up to date with the commits that the context has merged during the fetch.
    /// - Throws: The error of a fetch of the request.
    public func monitorList<Object: ManagedObject>(
        asynchronous from: From<Object>, sectionBy: SectionBy<Object>? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws(StorageError) -> ListMonitor<Object> {
        _ = try contextToObserve()
        let engine = try await ArrivingList.fetch(try ListQuery(from, sectionBy, core.model), self, isolation: isolation)
        let monitor = ListMonitor(from, sectionBy, engine, self)
        add(monitor, isolation: isolation)
        return monitor
    }

    private func monitor<Object: ManagedObject>(
        _ from: From<Object>, _ sectionBy: SectionBy<Object>?, _ isolation: isolated (any Actor)?
    ) throws(StorageError) -> ListMonitor<Object> {
        try reporting { () throws(StorageError) in
            let context = try contextToObserve(), engine = ListEngine(try ListQuery(from, sectionBy, core.model), core)
            try engine.fetch(in: context)
            let monitor = ListMonitor(from, sectionBy, engine, self)
            add(monitor, isolation: isolation)
            return monitor
        }
    }
}
