public import PolystoreStorage

extension WriteTransaction {
    /// Changes all objects of a request without instantiating them: in one statement if the engine computes the values exactly as the
    /// contract requires, otherwise row by row in batches.
    ///
    /// ```swift
    /// let count = try transaction.updateAll(From<Person>().where(\.age > 65), .set(\.isRetired, to: true))
    /// ```
    /// The call changes either all objects or, after an error, none: the transaction continues as if the method had not been called.
    /// Versions are incremented, the history contains every object, and living objects are updated. Rules of the model are validated at
    /// commit; for classes with rules, the changed objects are loaded for that.
    ///
    /// A trigger that someone has added to a table of a SQLite store can make the engine ignore the change of a row (`RAISE(IGNORE)`). In one
    /// statement this is no error: the object stays as it is and is not counted.
    /// - Returns: The number of objects.
    /// - Throws: `unsupported` for a relationship; `arithmeticOverflow` and `divisionByZero` of the computed values; any error of writing.
    @discardableResult
    public func updateAll<Object: ManagedObject>(_ from: From<Object>, _ assignments: Assignment<Object>...) throws(StorageError) -> Int {
        try updateAll(from, assignments)
    }

    /// Changes all objects of a request without instantiating them.
    package func updateAll<Object: ManagedObject>(_ from: From<Object>, _ assignments: [Assignment<Object>]) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in
            let context = try _fetchContext
            try context.checkFlushed()
            let plan = try from.plan(context.model)
            var batch = BatchWork(context, plan)
            let values = try batch.checked(assignments)
            if values.isEmpty { return 0 }
            let stores = try context.stack.stores(for: plan.entity, from.configurations)
            try batch.select(in: stores)
            return try wholly { () throws(StorageError) in
                for store in stores { try batch.update(values, in: store) }
                return batch.count
            }
        }
    }

    /// Inserts objects from sources without retaining them, for many rows that the transaction does not read again. After an error none of
    /// them is inserted.
    ///
    /// - Parameters:
    ///   - into: The class, and the store if several hold its entity.
    ///   - sources: The sources of the values.
    ///   - assign: A closure that assigns the values of one source to a new object: attributes, and relationships to one object whose
    ///     inverse is missing or unordered. `willSave` is not called.
    /// - Returns: The ids of the objects, in the order of the sources.
    /// - Throws: `validationFailed`; `uniqueConstraintViolated`; `unsupported` for other relationships; any error of the closure.
    @discardableResult
    public func insertAll<Object: ManagedObject, Source>(
        _ into: Into<Object>, sources: some Sequence<Source>, assign: (_ object: Object, _ source: Source) throws -> Void
    ) throws -> [ObjectID<Object>] {
        try _fetchContext.checkFlushed()
        return try nested {
            var rows = try RowBuilder(self, try target(into), unique: nil)
            for source in sources {
                let object = try rows.next()
                try assign(unsafeDowncast(object, to: Object.self), source)
                try rows.add(object)
            }
            try rows.flush()
            return rows.results.map { ObjectID($0.key) }
        }
    }
}
