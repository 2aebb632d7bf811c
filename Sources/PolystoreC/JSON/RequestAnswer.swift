internal import Polystore
internal import PolystoreStorage
internal import PolystoreTransfer

/// Answers requests in JSON.
struct RequestAnswer {
    let schema: Schema
    /// Returns the rows of a request for values.
    let rows: (AttributesQuery<DynamicObject>) throws(StorageError) -> [AttributeRow]
    /// Returns the objects of a request.
    let objects: (From<DynamicObject>) throws(StorageError) -> [DynamicObject]

    /// Returns the answer to a request.
    ///
    /// - Throws: `invalidPredicate` for a request that has another form, or does not fit the model; errors of the stores.
    func json(_ request: String) throws(StorageError) -> String {
        let description = try RequestDescription(json: request)
        try description.checkPrefetched(in: schema)
        let from = From<DynamicObject>(try description.objectRequest(), prefetching: description.prefetched)
        guard let values = try description.valueRequest() else {
            return try ObjectJSON(schema, prefetched: description.prefetched).array(objects(from))
        }
        let rows = try rows(AttributesQuery(from, values))
        if description.isSingleValue { return JSONText.value(rows.first?.values.first ?? .null) }
        return JSONText.array(rows.map { row in JSONText.object(zip(row.names, row.values.map(JSONText.value)).map { ($0, $1) }) })
    }
}

extension From<DynamicObject> {
    /// Creates a request with the parts of another one.
    init(_ request: ObjectRequest, prefetching prefetched: [String]) {
        var from = From(entity: request.entity).orderBy(OrderBy(terms: request.order)).offset(request.offset).prefetch(named: prefetched)
        if let predicate = request.predicate { from = from.where(Where(predicate)) }
        if let limit = request.limit { from = from.limit(limit) }
        self = from
    }
}
