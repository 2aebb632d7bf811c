internal import PolystoreStorage

extension WriteTransaction {
    /// Writes values under a unique constraint: the object with the unique values gets the assigned values, and is created if it does not
    /// exist. The store decides, in one statement if it supports that, and no object is read.
    ///
    /// ```swift
    /// try transaction.upsertAll(Into<Person>(), on: \.email, sources: rows) { person, row in
    ///     person.email = row.email
    ///     person.name = row.name
    /// }
    /// ```
    /// An existing object keeps the values that the closure does not assign. The closure can read only what it has assigned. If the present
    /// values matter, for example for a counter, use `importUniqueObjects`, which reads them. Sources are applied one after the other, so that the last of several equal ones takes
    /// precedence. After an error none of them is applied.
    /// - Parameters:
    ///   - into: The class, and the store if several hold its entity.
    ///   - unique: The attributes of one of the entity's unique constraints.
    ///   - sources: The sources of the values.
    ///   - assign: A closure that assigns the attributes of one source to an object that is not in the store and has the defaults. It must
    ///     not assign relationships. `willSave` is not called.
    /// - Returns: The result for each source, in their order.
    /// - Throws: `invalidConfiguration` if the attributes are not those of a unique constraint; `unsupported` if the closure reads an
    ///   attribute that it has not assigned, or assigns a relationship; `validationFailed`;
    ///   `uniqueConstraintViolated` for another constraint; any error of the closure.
    @discardableResult
    public func upsertAll<Object: ManagedObject, Source, each Property>(
        _ into: Into<Object>, on unique: repeat KeyPath<Object, each Property>, sources: some Sequence<Source>,
        assign: (_ object: Object, _ source: Source) throws -> Void
    ) throws -> [UpsertedID<Object>] {
        var names: [String] = []
        for keyPath in repeat each unique { names.append(try KeyPathProbe.resolve(keyPath).description) }
        return try upsertAll(into, onNamed: names, sources: sources, assign: assign)
    }

    /// Works like `upsertAll(_:on:sources:assign:)`, with the attributes of the constraint given by their stored names.
    @discardableResult
    public func upsertAll<Object: ManagedObject, Source>(
        _ into: Into<Object>, onNamed unique: [String], sources: some Sequence<Source>,
        assign: (_ object: Object, _ source: Source) throws -> Void
    ) throws -> [UpsertedID<Object>] {
        try _fetchContext.checkFlushed()
        return try nested {
            var rows = try RowBuilder(self, try target(into), unique: unique)
            for source in sources {
                let object = try rows.next()
                try assign(unsafeDowncast(object, to: Object.self), source)
                try rows.add(object)
            }
            try rows.flush()
            return rows.results.map { UpsertedID(id: ObjectID($0.key), isInserted: $0.isInserted) }
        }
    }
}
