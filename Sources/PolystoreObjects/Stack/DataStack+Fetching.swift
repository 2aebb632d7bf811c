public import PolystoreStorage

extension DataStack {
    /// Runs a fetch in a context of its own.
    @inline(__always)
    fileprivate func inNewContext<R>(_ body: (ObjectContext) throws(StorageError) -> R) throws(StorageError) -> R {
        try core.working { () throws(StorageError) in try body(ObjectContext(stack: core, model: core.model)) }
    }

    /// Runs a fetch in a context of its own, within a time.
    @inline(__always)
    private func within<R>(_ timeout: Duration?, _ body: (ObjectContext) throws(StorageError) -> R) throws(StorageError) -> R {
        try inNewContext { context throws(StorageError) in
            let result = try timeout == nil ? body(context) : context.within(timeout) { () throws(StorageError) in try body(context) }
            // Objects are created from the readable values. A malformed value is an error of the fetch.
            try context.throwFailure()
            return result
        }
    }

    /// Returns the objects of a request, in its order: read-only, in a context of their own.
    ///
    /// - Parameters:
    ///   - from: The request.
    ///   - timeout: The maximum duration of the fetch; nil for no limit.
    /// - Throws: `notFound` before any store was added; `invalidPredicate` for a request that is invalid for the model.
    public func fetchAll<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchAll(from) } }
    }

    /// Returns the first object of a request; nil if there is none.
    public func fetchOne<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> sending Object? {
        try reporting { () throws(StorageError) in
            try within(timeout) { context throws(StorageError) in try context.fetchAll(from.limit(min(from.limit ?? 1, 1))).first }
        }
    }

    /// Returns the number of objects of a request.
    public func fetchCount<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchCount(from) } }
    }

    /// Returns the ids of the objects of a request, in its order, without instantiating objects.
    public func fetchIDs<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> [ObjectID<Object>] {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchIDs(from) } }
    }

    /// Returns the object that an id, a snapshot, a publisher or a monitor represents, read-only, in a context of its own; nil if it no
    /// longer exists.
    public func fetchExisting<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> sending Object? {
        let id = representation.objectID
        return try reporting { () throws(StorageError) in try within(nil) { context throws(StorageError) in try context.existing(id) } }
    }

    /// Returns the stack's own, read-only instance of an object of any context; nil if it no longer exists.
    public func fetchExisting<Object: ManagedObject>(_ object: Object) throws(StorageError) -> sending Object? {
        try fetchExisting(ObjectID<Object>(object._context.objectKey(of: object)))
    }

    /// Returns the objects with the given ids, in their order, read-only, in a context of their own, without those that no longer exist.
    public func fetchExisting<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in try within(nil) { context throws(StorageError) in try context.existing(ids) } }
    }

    /// Returns the stack's own, read-only instances of objects of any context, in their order, without those that no longer exist.
    public func fetchExisting<Object: ManagedObject>(_ objects: [Object]) throws(StorageError) -> sending [Object] {
        try fetchExisting(objects.map { ObjectID<Object>($0._context.objectKey(of: $0)) })
    }
}

extension DataStack: QuerySource {
    /// Runs a closure with a context of the newest committed state.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        try inNewContext(body)
    }
}

extension DataStack {
    /// The secret that signs page cursors. It is random for each stack, so that cursors are valid for one run of the program. Programs that
    /// share or store cursors must set one of 32 bytes or more.
    public var pageSecret: [UInt8] {
        get { core.pageSecret }
        set { core.pageSecret = newValue }
    }

    /// Returns a page of a request: as many objects as its limit, 100 without one, after a cursor.
    ///
    /// A page of the limit 0 is empty and has no next one.
    /// Each page costs as much as the first, regardless of the number of preceding ones, if an index has the order.
    /// - Throws: `invalidPredicate` for a modified cursor or one of another request.
    public func fetchPage<Object: ManagedObject>(
        _ from: From<Object>, after cursor: PageCursor? = nil
    ) throws(StorageError) -> sending Page<Object> {
        try reporting { () throws(StorageError) in
            try inNewContext { context throws(StorageError) in try context.fetchPage(from, after: cursor) }
        }
    }
}

extension DataStack {
    /// Returns the rows of the answer to a statement in SQL, from the newest committed state of a store that supports it.
    ///
    /// - Parameters:
    ///   - sql: One statement that changes nothing.
    ///   - configuration: The configuration of the store; nil for the only one that holds the entities that the statement names.
    /// - Throws: As `FetchSource.queryRows`.
    public func queryRows(_ sql: RawSQL, in configuration: String? = nil) throws(StorageError) -> [AttributeRow] {
        try reporting { () throws(StorageError) in
            try inNewContext { context throws(StorageError) in try context.queryRows(sql, configuration) }
        }
    }

    /// Returns the objects whose keys are the first column of the answer to a statement in SQL, in its order. They are read-only, in a
    /// separate context.
    ///
    /// - Throws: As `FetchSource.fetchAll(_:sql:)`.
    public func fetchAll<Object: ManagedObject>(_ from: From<Object>, sql: RawSQL) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in
            try inNewContext { context throws(StorageError) in try context.fetchAll(from, sql: sql) }
        }
    }
}
