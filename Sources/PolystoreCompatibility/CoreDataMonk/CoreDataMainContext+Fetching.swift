public import Polystore

extension From {
    /// Creates the request of a fetch of CoreDataMonk.
    init(_ condition: Where<Object>?, orderBy: OrderBy<Object>? = nil, options: FetchOptions?) {
        var request = From()
        if let condition { request = request.where(condition) }
        if let orderBy { request = request.orderBy(orderBy) }
        self = options?.applied(to: request) ?? request
    }
}

extension CoreDataMainContext {
    /// Returns the first object that satisfies a condition.
    ///
    /// - Throws: `notFound` if there is none.
    public func fetch<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>, options: FetchOptions? = nil
    ) throws(StorageError) -> O {
        if let found = try view.fetchOne(From(condition, options: options)) { return found }
        throw StorageError(.notFound, "no \(O.self) satisfies the condition")
    }

    /// Returns the objects of a class that satisfy a condition, in an order, with options.
    public func fetchAll<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, options: FetchOptions? = nil
    ) throws(StorageError) -> [O] {
        try view.fetchAll(From(condition, orderBy: orderBy, options: options))
    }

    /// Returns a list of the objects of a class that satisfy a condition, which follows later commits.
    ///
    /// - Parameters:
    ///   - type: The class.
    ///   - condition: The condition; nil for all objects.
    ///   - orderBy: The order. With sections it must begin with their property.
    ///   - key: The property of the sections; nil for a list without sections.
    ///   - options: The options.
    ///   - isolation: The isolation that the context belongs to. Observers of the list are called there, soon after each commit in the
    ///     layouts that merge automatically, otherwise by `merge()`.
    /// - Throws: `invalidPredicate` if the order does not keep sections together; the error of a fetch of the request.
    public func fetchResults<O: ManagedObject>(
        _ type: O.Type, _ condition: Where<O>? = nil, orderBy: OrderBy<O>, sectionBy key: MonkKey? = nil, options: FetchOptions? = nil,
        isolation: isolated (any Actor)? = #isolation
    ) throws(StorageError) -> ListMonitor<O> {
        let from = From(condition, orderBy: orderBy, options: options)
        guard let key else { return try view.monitorList(from, isolation: isolation) }
        return try view.monitorSectionedList(from, sectionBy: SectionBy(key.path.description), isolation: isolation)
    }

    /// Returns a single value, or nil if there is none.
    public func queryValue<O: ManagedObject>(
        _ type: O.Type, _ target: QueryTargets, _ condition: Where<O>? = nil, options: FetchOptions? = nil
    ) throws(StorageError) -> Any? {
        try query(type, target, condition, options: options).first?.values.first
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public func query<O: ManagedObject>(
        _ type: O.Type, _ targets: QueryTargets, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, groupBy key: MonkKey? = nil,
        having: Where<O>? = nil, options: FetchOptions? = nil
    ) throws(StorageError) -> [[String: Any]] {
        let keys = GroupKeys(paths: key.map { [$0.path.description] } ?? [])
        return try query(type, targets, condition, orderBy: orderBy, groupBy: keys, having: having, options: options)
    }

    /// Returns the result rows as dictionaries, without values that are nil, grouped by several key paths.
    public func query<O: ManagedObject>(
        _ type: O.Type, _ targets: QueryTargets, _ condition: Where<O>? = nil, orderBy: OrderBy<O>? = nil, groupBy keys: GroupKeys,
        having: Where<O>? = nil, options: FetchOptions? = nil
    ) throws(StorageError) -> [[String: Any]] {
        var query = From(condition, orderBy: orderBy, options: options).select(
            targets.terms.map { Polystore.Select(named: $0.text, as: $0.alias) }
        )
        .groupBy(named: keys.paths)
        if let having { query = query.having(having) }
        if options?.isDistinct == true { query = query.distinct() }
        return try view.queryAttributes(query).map { row in
            var result: [String: Any] = [:]
            for (name, value) in zip(row.names, row.values) { result[name] = value.natural }
            return result
        }
    }
}
