public import PolystoreStorage

/// A request for one value.
public struct ValueQuery<Object: ManagedObject, Result: AttributeValue>: Sendable {
    let query: AttributesQuery<Object>
}

/// A request for rows of values, grouped or not.
public struct AttributesQuery<Object: ManagedObject>: Sendable {
    let from: From<Object>
    let outputs: [Select<Object>]
    private(set) var keys: [QueryExpression] = []
    private(set) var condition: QueryPredicate?
    private(set) var isDistinct = false
    private(set) var problem: StorageError?

    init(_ from: From<Object>, _ outputs: [Select<Object>]) {
        self.from = from
        self.outputs = outputs
        problem = from.problem ?? outputs.lazy.compactMap(\.problem).first
    }

    /// Returns the query with one row for each value of the keys: `.groupBy(\.age)`.
    public func groupBy<each Property>(_ keyPath: repeat KeyPath<Object, each Property>) -> AttributesQuery {
        var copy = self
        for keyPath in repeat each keyPath { copy.add(ValueExpression(keyPath)) }
        return copy
    }

    /// Returns the query with one row for each value of an expression.
    public func groupBy<Value>(_ expression: ValueExpression<Object, Value>) -> AttributesQuery {
        var copy = self
        copy.add(expression)
        return copy
    }

    /// Returns the query with one row for each value of the keys, by their names in the text form.
    public func groupBy(named keys: String...) -> AttributesQuery { groupBy(named: keys) }

    /// Returns the query with one row for each value of the keys, by their names in the text form.
    public func groupBy(named keys: [String]) -> AttributesQuery {
        var copy = self
        for key in keys {
            do throws(QueryError) { copy.keys.append(try QueryExpression(parsing: key)) } catch {
                copy.problem = problem ?? StorageError(error)
            }
        }
        return copy
    }

    private mutating func add<Value>(_ expression: ValueExpression<Object, Value>) {
        keys.append(expression.expression)
        problem = problem ?? expression.problem
    }

    /// Returns the query restricted to groups that satisfy a condition on keys, aggregates and aliases: `.having(.count() > 3)`, or a text.
    public func having(_ condition: Where<Object>) -> AttributesQuery {
        var copy = self
        copy.condition = self.condition.map { $0 && condition.predicate } ?? condition.predicate
        copy.problem = problem ?? condition.problem
        return copy
    }

    /// Returns the query without duplicate rows.
    public func distinct() -> AttributesQuery {
        var copy = self
        copy.isDistinct = true
        return copy
    }

    func plan(_ model: StackModel) throws(StorageError) -> QueryPlan {
        if let problem { throw problem }
        let request = QueryRequest(
            try from.request(model), outputs: outputs.map(\.output), groupBy: keys, having: condition, isDistinct: isDistinct)
        do throws(QueryError) { return try request.plan(in: model.schema) } catch { throw StorageError(error) }
    }
}

/// A request for tuples.
public struct TupleQuery<Object: ManagedObject, each Value: AttributeValue>: Sendable {
    let query: AttributesQuery<Object>
}

extension From {
    /// Returns a request for one value over the objects: `From<Person>().select(Int.self, .maximum(\.age))`.
    public func select<Result: AttributeValue>(_ type: Result.Type, _ select: Select<Object>) -> ValueQuery<Object, Result> {
        ValueQuery(query: AttributesQuery(self, [select]))
    }

    /// Returns a request for rows of values: `From<Person>().select(.attribute(\.age), .count(as: "number")).groupBy(\.age)`.
    public func select(_ first: Select<Object>, _ more: Select<Object>...) -> AttributesQuery<Object> { select([first] + more) }

    /// Returns a request for rows of values.
    public func select(_ outputs: [Select<Object>]) -> AttributesQuery<Object> { AttributesQuery(self, outputs) }

    /// Returns a request for tuples of properties: `From<Person>().tuples(\.name, \.age)`.
    public func tuples<each Value: AttributeValue>(_ keyPath: repeat KeyPath<Object, each Value>) -> TupleQuery<Object, repeat each Value> {
        var outputs: [Select<Object>] = []
        for keyPath in repeat each keyPath { outputs.append(.attribute(keyPath, as: "\(outputs.count)")) }
        return TupleQuery(query: AttributesQuery(self, outputs))
    }

    /// Returns a request for tuples of expressions: `From<Person>().tuples(ValueExpression(\Person.name), (\Person.pets).count)`.
    public func tuples<each Value: AttributeValue>(
        _ expression: repeat ValueExpression<Object, each Value>
    ) -> TupleQuery<Object, repeat each Value> {
        var outputs: [Select<Object>] = []
        for expression in repeat each expression { outputs.append(.expression(expression, as: "\(outputs.count)")) }
        return TupleQuery(query: AttributesQuery(self, outputs))
    }
}

extension ObjectContext {
    /// Returns one value over the objects of a request.
    func queryValue<Object: ManagedObject, Result: AttributeValue>(_ query: ValueQuery<Object, Result>) throws(StorageError) -> Result? {
        guard let value = try rows(query.query).first?.first, !value.isNull else { return nil }
        return try value.converted(query.query.outputs[0].output.alias)
    }

    /// Returns the rows of an answer.
    func queryAttributes<Object: ManagedObject>(_ query: AttributesQuery<Object>) throws(StorageError) -> [AttributeRow] {
        let names = query.outputs.map(\.output.alias)
        return try rows(query).map { AttributeRow(names: names, values: $0) }
    }

    /// Returns the tuples of an answer.
    func queryTuples<Object: ManagedObject, each Value: AttributeValue>(
        _ query: TupleQuery<Object, repeat each Value>
    ) throws(StorageError) -> [(repeat each Value)] {
        var tuples: [(repeat each Value)] = []
        for row in try rows(query.query) {
            var position = -1
            func next<Result: AttributeValue>(_ type: Result.Type) throws(StorageError) -> Result {
                position += 1
                if row[position].isNull, let result = Result(attributeValue: .null) { return result }
                return try row[position].converted("value \(position + 1)")
            }
            tuples.append((repeat try next((each Value).self)))
        }
        return tuples
    }

    private func rows<Object: ManagedObject>(_ query: AttributesQuery<Object>) throws(StorageError) -> [[Value]] {
        let plan = try query.plan(model)
        let stores = try stores(for: plan.fetch.entity, query.from.configurations)
        try checkStoreOnly(query.from, query)
        return stores.count == 1 ? try values(plan, stores[0]) : try MergedQuery(plan, stores).run(self)
    }
}

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

extension DataStack: QuerySource {
    /// Runs a closure with a context of the newest committed state.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        try body(ObjectContext(stack: core, model: core.model))
    }
}

extension ReadTransaction: QuerySource {
    /// Runs a closure with the context of the read.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R { try body(try _fetchContext) }
}

extension ViewContext: QuerySource {
    /// Runs a closure with the context.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R { try body(try _fetchContext) }
}

extension BaseTransaction: QuerySource {
    /// Runs a closure with a context of the newest committed state, or with that of the transaction.
    public func _withQueryContext<R>(
        _ includesPendingChanges: Bool, _ body: (ObjectContext) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        if !includesPendingChanges {
            try checkOpen()
            return try body(context.committed)
        }
        let own = try _fetchContext
        if own.hasDetachedChanges {
            throw StorageError(
                .unsupported, "a query for values cannot include uncommitted changes of the transaction; fetch the objects, or commit first"
            )
        }
        return try body(own)
    }
}
