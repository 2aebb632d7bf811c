public import Polystore

extension DataStack {
    /// Returns a publisher of the objects of a request.
    public func publishList<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> ListPublisher<O> {
        try publishList(from, [clause] + more)
    }

    /// Returns a publisher of the objects of a request.
    public func publishList<O: ManagedObject>(
        _ from: From<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListPublisher<O> {
        try publishList(from.applying(clauses))
    }

    /// Returns a publisher of the objects of a request in sections. The order must begin with that of the sections.
    public func publishList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListPublisher<O> {
        try publishList(from, sectionBy, clauses)
    }

    /// Returns a publisher of the objects of a request in sections. The order must begin with that of the sections.
    public func publishList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListPublisher<O> {
        try publishList(from.applying(clauses), sectionBy: sectionBy)
    }

    /// Returns a publisher of the objects of a request in sections.
    public func publishList<O: ManagedObject>(_ list: SectionMonitorChainBuilder<O>) throws(StorageError) -> ListPublisher<O> {
        try publishList(list.from, sectionBy: list.sectionBy)
    }
}

extension CoreStore {
    /// Returns a publisher of the objects of a request of the default stack.
    public static func publishList<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListPublisher<O> {
        try publishList(from, clauses)
    }

    /// Returns a publisher of the objects of a request of the default stack.
    public static func publishList<O: ManagedObject>(
        _ from: From<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListPublisher<O> {
        try defaultStack.publishList(from.applying(clauses))
    }

    /// Returns a publisher of the objects of a request in sections of the default stack. The order must begin with that of the sections.
    public static func publishList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ListPublisher<O> {
        try publishList(from, sectionBy, clauses)
    }

    /// Returns a publisher of the objects of a request in sections of the default stack. The order must begin with that of the sections.
    public static func publishList<O: ManagedObject>(
        _ from: From<O>, _ sectionBy: SectionBy<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ListPublisher<O> {
        try defaultStack.publishList(from.applying(clauses), sectionBy: sectionBy)
    }

    /// Returns a publisher of the objects of a request in sections of the default stack.
    public static func publishList<O: ManagedObject>(_ list: SectionMonitorChainBuilder<O>) throws(StorageError) -> ListPublisher<O> {
        try defaultStack.publishList(list.from, sectionBy: list.sectionBy)
    }

    /// Returns a publisher of an object of the default stack.
    public static func publishObject<O: ManagedObject>(_ object: O) throws(StorageError) -> ObjectPublisher<O> {
        try defaultStack.publishObject(object)
    }

    /// Returns a publisher of the object of the default stack that an id, a snapshot or a monitor represents.
    public static func publishObject<O: ManagedObject>(
        _ representation: some ObjectRepresentation<O>
    ) throws(StorageError) -> ObjectPublisher<O> {
        try defaultStack.publishObject(representation)
    }
}

extension ListPublisher {
    /// Fetches the objects of a request, with its sections. The next snapshot requires a reload.
    public func refetch(_ list: SectionMonitorChainBuilder<Object>) throws(StorageError) {
        try refetch(list.from, sectionBy: list.sectionBy)
    }
}
