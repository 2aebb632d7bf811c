public import PolystoreStorage

/// A source of values: a stack, a transaction, a read, a context.
public protocol QuerySource {
    /// Runs a closure with the context that answers queries: that of the newest committed state, or that with the changes of a transaction.
    func _withQueryContext<R>(_ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R) throws(StorageError) -> R
}

extension QuerySource {
    /// Returns one value over the objects of a request, computed by the store; nil over no values.
    ///
    /// In a transaction the result is that of the newest committed state, unless the request includes pending changes.
    public func queryValue<Object: ManagedObject, Result: AttributeValue>(
        _ query: ValueQuery<Object, Result>
    ) throws(StorageError) -> Result? {
        try reporting { () throws(StorageError) in
            try _withQueryContext(query.query.from.includesPendingChanges == true) { context throws(StorageError) in
                try context.queryValue(query)
            }
        }
    }

    /// Returns rows of values, computed by the store.
    ///
    /// In a transaction the result is that of the newest committed state, unless the request includes pending changes.
    public func queryAttributes<Object: ManagedObject>(_ query: AttributesQuery<Object>) throws(StorageError) -> [AttributeRow] {
        try reporting { () throws(StorageError) in
            try _withQueryContext(query.from.includesPendingChanges == true) { context throws(StorageError) in
                try context.queryAttributes(query)
            }
        }
    }

    /// Returns the values of one property or expression, computed by the store: `queryValues(From<Person>().tuples(\.name))` returns an array of
    /// names.
    ///
    /// In a transaction the result is that of the newest committed state, unless the request includes pending changes.
    public func queryValues<Object: ManagedObject, Value: AttributeValue>(
        _ query: TupleQuery<Object, Value>
    ) throws(StorageError) -> [Value] { try queryTuples(query) }

    /// Returns tuples of values, computed by the store.
    ///
    /// In a transaction the result is that of the newest committed state, unless the request includes pending changes.
    public func queryTuples<Object: ManagedObject, each Value: AttributeValue>(
        _ query: TupleQuery<Object, repeat each Value>
    ) throws(StorageError) -> [(repeat each Value)] {
        try reporting { () throws(StorageError) in
            try _withQueryContext(query.query.from.includesPendingChanges == true) { context throws(StorageError) in
                try context.queryTuples(query)
            }
        }
    }
}
