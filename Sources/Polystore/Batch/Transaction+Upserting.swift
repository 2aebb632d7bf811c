internal import PolystoreStorage

/// What became of a source of an upsert.
public struct UpsertedID<Object: ManagedObject>: Sendable, Hashable {
    /// The object that has the values now.
    public let id: ObjectID<Object>
    /// Whether the upsert made it; otherwise it was there and was changed.
    public let isInserted: Bool
}

extension Transaction {
    /// Writes values under a unique constraint: the object that has the unique values gets what is assigned, and where there is none it is
    /// made. The store decides, in one statement where it has one, and no object is read.
    ///
    /// ```swift
    /// try transaction.upsertAll(Into<Person>(), on: \.email, sources: rows) { person, row in
    ///     person.email = row.email
    ///     person.name = row.name
    /// }
    /// ```
    /// An object that is there keeps what the closure does not assign. Where its present values matter, such as for a counter, use
    /// `importUniqueObjects`, which reads them. Sources take effect one after the other, so of equal ones the last has the last word.
    /// After an error none of them has taken effect.
    /// - Parameters:
    ///   - into: The class, and the store where several hold its entity.
    ///   - unique: The attributes of one of the entity's unique constraints.
    ///   - sources: What the values are taken from.
    ///   - assign: Assigns the attributes of one source to an object that is not in the store and has the defaults; it assigns no
    ///     relationships. `willSave` is not called.
    /// - Returns: What became of each source, in their order.
    /// - Throws: `invalidConfiguration` when the attributes are not those of a unique constraint; `validationFailed`,
    ///   `uniqueConstraintViolated` for another constraint; what the closure throws.
    @discardableResult
    public func upsertAll<Object: ManagedObject, Source, each Property>(
        _ into: Into<Object>, on unique: repeat KeyPath<Object, each Property>, sources: some Sequence<Source>,
        assign: (_ object: Object, _ source: Source) throws -> Void
    ) throws -> [UpsertedID<Object>] {
        var names: [String] = []
        for keyPath in repeat each unique { names.append(try KeyPathProbe.resolve(keyPath).description) }
        return try upsertAll(into, onNamed: names, sources: sources, assign: assign)
    }

    /// As `upsertAll(_:on:sources:assign:)`, with the attributes of the constraint by their stored names.
    @discardableResult
    public func upsertAll<Object: ManagedObject, Source>(
        _ into: Into<Object>, onNamed unique: [String], sources: some Sequence<Source>,
        assign: (_ object: Object, _ source: Source) throws -> Void
    ) throws -> [UpsertedID<Object>] {
        _ = try _fetchContext
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
