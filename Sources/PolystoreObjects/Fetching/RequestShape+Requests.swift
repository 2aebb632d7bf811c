internal import PolystoreStorage

extension RequestShape {
    /// Creates the shape of a fetch.
    init<Object: ManagedObject>(_ from: From<Object>, _ model: StackModel) {
        let entity = Self.entity(from, model)
        self.init(
            entity, text: from.line(entity, predicate: from.predicate?.shape, order: from.sort.map(\.shape)),
            request: .objects(Self.request(from, entity)))
    }

    /// Creates the shape of a query for values.
    init<Object: ManagedObject>(_ query: AttributesQuery<Object>, _ model: StackModel) {
        let fetch = RequestShape(query.from, model)
        var text = "\(fetch.text) select \(query.isDistinct ? "distinct " : "")"
        text += query.outputs.map(\.output.expression.shape).joined(separator: ", ")
        if !query.keys.isEmpty { text += " group by \(query.keys.map(\.shape).joined(separator: ", "))" }
        if let condition = query.condition { text += " having \(condition.shape)" }
        // Order and limit of grouped rows are not those of the objects, so that the request is kept as a whole.
        let request = QueryRequest(
            Self.request(query.from, Self.entity(query.from, model)), outputs: query.outputs.map(\.output), groupBy: query.keys,
            having: query.condition, isDistinct: query.isDistinct)
        self.init(fetch.entity, text: text, request: .values(request))
    }

    /// Creates the shape of a lookup by ids.
    init<Object: ManagedObject>(_ ids: [ObjectID<Object>]) { self.init(ids.first?.key.root, text: ids.first?.key.root ?? "\(Object.self)") }

    private static func request<Object: ManagedObject>(_ from: From<Object>, _ entity: String) -> ObjectRequest {
        ObjectRequest(
            entity, where: from.predicate, orderBy: from.sort, limit: from.limit, offset: from.offset,
            includesSubentities: from.includesSubentities)
    }

    private static func entity<Object: ManagedObject>(_ from: From<Object>, _ model: StackModel) -> String {
        if let index = try? from.entity(model) { return model.schema.entities[index].name }
        return from.entityName ?? "\(Object.self)"
    }
}

extension From {
    /// Returns the request on one line.
    func line(_ name: String, predicate: String?, order: [String]) -> String {
        var text = name
        if let configurations { text += "(\(configurations.map { $0 ?? "nil" }.joined(separator: ", ")))" }
        if let predicate { text += " where \(predicate)" }
        if !order.isEmpty { text += " order by \(order.joined(separator: ", "))" }
        if let limit { text += " limit \(limit)" }
        if offset > 0 { text += " offset \(offset)" }
        if !prefetched.isEmpty { text += " prefetch \(prefetched.map(\.description).joined(separator: ", "))" }
        if let properties { text += " properties \(properties.map(\.description).joined(separator: ", "))" }
        return text
    }
}
