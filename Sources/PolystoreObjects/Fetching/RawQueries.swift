public import PolystoreStorage

extension ObjectContext {
    /// Returns the store of a statement: the only one that holds the named entities, among those of a configuration if given.
    func store(for sql: RawSQL, _ configuration: String?) throws(StorageError) -> Int {
        var named: Set<EntityIndex> = []
        // The store reports a name that the model does not have, with the most similar one.
        for name in sql.entities { if let index = model.schema.index(of: name) { named.insert(index) } }
        let stores = stack.entries.filter { item in
            item.entry.entities.isSuperset(of: named) && (configuration.map { item.entry.store.configuration == $0 } ?? true)
        }
        if stores.count == 1 { return stores[0].position }
        let names = sql.entities.sorted().joined(separator: ", ")
        throw StorageError(
            stores.isEmpty ? .notFound : .invalidConfiguration,
            stores.isEmpty
                ? "no store of this stack can run the SQL statement\(names.isEmpty ? "" : ", which uses the entities \(names)")"
                : "several stores could run the SQL statement; specify the configuration of one")
    }

    /// Returns the rows of a statement's answer.
    func queryRows(_ sql: RawSQL, _ configuration: String?) throws(StorageError) -> [AttributeRow] {
        let answer = try measured(.sql, RequestShape(sql), rows: \.rows.count) { () throws(StorageError) in
            try rawRows(sql, try store(for: sql, configuration))
        }
        return answer.rows.map { AttributeRow(names: answer.names, values: $0, form: .engine) }
    }

    private func rawRows(_ sql: RawSQL, _ store: Int) throws(StorageError) -> RawRows {
        try checkFlushed()
        if hasDetachedChanges {
            throw StorageError(.unsupported, "SQL does not include uncommitted changes of the transaction; commit first")
        }
        // A query that does not wait for a lock changes nothing either.
        return try withReader(store, unless: { $0.isUndoable || $0 == .busy }) { reader throws(StorageError) in try reader.rawRows(sql) }
    }

    /// Returns the objects whose keys a statement returns, in its order.
    func fetchAll<Object: ManagedObject>(_ from: From<Object>, sql: RawSQL) throws(StorageError) -> [Object] {
        try measured(.sql, RequestShape(sql), rows: \.count) { () throws(StorageError) in try objects(from, sql) }
    }

    private func objects<Object: ManagedObject>(_ from: From<Object>, _ sql: RawSQL) throws(StorageError) -> [Object] {
        let plan = try from.plan(model), stores = try stores(for: plan.entity, from.configurations)
        let isPlain = from.predicate == nil && from.sort.isEmpty && from.limit == nil && from.offset == 0
        guard isPlain, from.includesPendingChanges == nil else {
            throw StorageError(.invalidPredicate, "From cannot have a condition, order, limit or offset here; write them in the SQL")
        }
        guard stores.count == 1 else {
            throw StorageError(
                .invalidConfiguration,
                "several stores have objects of \(model.schema[plan.entity].name); specify one configuration with From(\"configuration\")",
                details: .init(entity: model.schema[plan.entity].name))
        }
        return try inOneSnapshot { () throws(StorageError) in
            let keys = try Self.keys(try rawRows(sql, stores[0]))
            let entities = Set(plan.entities)
            let found = try objects(plan.entity, keys, stores[0]).filter { entities.contains(Int($0._entity)) }.compactMap { $0 as? Object }
            try prefetch(from.prefetched, of: found)
            return found
        }
    }

    private static func keys(_ answer: RawRows) throws(StorageError) -> [Int64] {
        var keys: [Int64] = []
        for row in answer.rows {
            // A null key of an outer join has no object.
            if row.first == .null { continue }
            guard case .int(let key)? = row.first else {
                throw StorageError(
                    .invalidPredicate,
                    "the first column of the SQL result is not a primary key; start with SELECT \\(column: \\Person.self)")
            }
            keys.append(key)
        }
        return keys
    }
}

extension FetchSource {
    /// Returns the rows of the answer to a statement in SQL, on a store that supports it.
    ///
    /// It sees the same data as the source, including a transaction's own changes. It must not change anything: use `WriteTransaction.execute`
    /// for changes. In a write transaction on PostgreSQL it may lock rows: `SELECT … FOR UPDATE SKIP LOCKED`.
    /// - Parameters:
    ///   - sql: One statement.
    ///   - configuration: The configuration of the store; nil for the only one that holds the entities that the statement names.
    /// - Returns: The values in the representation of the engine; `AttributeRow.value(_:as:)` reads them as the types of attributes.
    /// - Throws: `unsupported` on a store without SQL, `invalidPredicate` for an invalid statement, `readOnly` for one that would change
    ///   something.
    public func queryRows(_ sql: RawSQL, in configuration: String? = nil) throws(StorageError) -> [AttributeRow] {
        try reporting { () throws(StorageError) in try _fetchContext.queryRows(sql, configuration) }
    }

    /// Returns the objects whose keys are the first column of the answer to a statement in SQL, in its order.
    ///
    /// ```swift
    /// try source.fetchAll(From<Person>(), sql: "SELECT \(column: \Person.self) FROM \(table: Person.self) ORDER BY random()")
    /// ```
    /// Keys without an object of the class are omitted. A key that occurs twice returns its object twice.
    /// - Throws: As `queryRows`; `invalidPredicate` also if the first column is not a key, and if `from` has a condition or an order.
    public func fetchAll<Object: ManagedObject>(_ from: From<Object>, sql: RawSQL) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in try _fetchContext.fetchAll(from, sql: sql) }
    }
}
