public import PolystoreStorage

extension ViewContext {
    /// Follows an object; one of another context is looked up here.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - isolation: The isolation that the context belongs to: observers are called there, soon after each commit. Where there is none they
    ///     are called by `merge()`.
    /// - Throws: `notFound` when there is no such object any more; whatever reading throws.
    public func monitorObject<Object: ManagedObject>(
        _ object: Object, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ObjectMonitor<Object> {
        let id = ObjectID<Object>(object._context.objectKey(of: object))
        return try monitorObject(id, isolation: isolation)
    }

    /// Follows the object that an id, a snapshot or a publisher stands for.
    ///
    /// - Throws: `notFound` when there is none; whatever reading throws.
    public func monitorObject<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ObjectMonitor<Object> {
        let id = representation.objectID
        return try reporting { () throws(StorageError) in
            let context = try contextToObserve()
            guard let object = try context.existing(id) else {
                throw StorageError(
                    .notFound, "there is no object \(id.key.root) \(id.key.key) to follow", details: .init(entity: id.key.root))
            }
            let monitor = try ObjectMonitor(object, self)
            add(monitor, isolation: isolation)
            return monitor
        }
    }

    /// Follows the objects of a request.
    ///
    /// - Parameters:
    ///   - from: Which objects, in which order; without an order they come in that of their keys.
    ///   - isolation: The isolation that the context belongs to: observers are called there, soon after each commit. Where there is none they
    ///     are called by `merge()`.
    /// - Throws: What a fetch of the request throws.
    public func monitorList<Object: ManagedObject>(
        _ from: From<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, nil, isolation)
    }

    /// Follows the objects of a request in sections.
    ///
    /// - Parameters:
    ///   - from: Which objects, in which order; the order begins with the property of the sections.
    ///   - sectionBy: What the sections are.
    ///   - isolation: The isolation that the context belongs to.
    /// - Throws: `invalidPredicate` where the order does not keep sections together; what a fetch of the request throws.
    public func monitorSectionedList<Object: ManagedObject>(
        _ from: From<Object>, sectionBy: SectionBy<Object>, isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<Object> {
        try monitor(from, sectionBy, isolation)
    }

    /// Follows the objects of a request that are fetched on a thread of the stack, so that nobody waits in the isolation of the context.
    ///
    /// - Parameters:
    ///   - from: Which objects, in which order; without an order they come in that of their keys.
    ///   - sectionBy: What the sections are; the order begins with their property then.
    ///   - isolation: The isolation that the context belongs to.
    /// - Returns: The list, up to date with what the context has merged meanwhile.
    /// - Throws: What a fetch of the request throws.
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
