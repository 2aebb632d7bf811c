internal import PolystoreStorage

/// A request for one value.
public struct ValueQuery<Object: ManagedObject, Result: AttributeValue>: Sendable {
    package let query: AttributesQuery<Object>

    /// Creates a request for the first value of the first row of a query.
    package init(query: AttributesQuery<Object>) { self.query = query }
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
        try measured(.values, RequestShape(query, model), rows: \.count) { () throws(StorageError) in try storedRows(query) }
    }

    private func storedRows<Object: ManagedObject>(_ query: AttributesQuery<Object>) throws(StorageError) -> [[Value]] {
        let plan = try query.plan(model)
        let stores = try stores(for: plan.fetch.entity, query.from.configurations)
        try checkStoreOnly(query.from, query)
        return stores.count == 1 ? try values(plan, stores[0]) : try MergedQuery(plan, stores).run(self)
    }
}
