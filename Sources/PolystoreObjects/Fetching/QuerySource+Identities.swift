internal import PolystoreFoundation
internal import PolystoreStorage

extension QuerySource {
    /// Returns rows of values as `queryAttributes` does, with the URI of the object in place of the primary key where the object itself is
    /// an output.
    ///
    /// - Throws: `unsupported` if the object is an output and several stores hold its entity, because a primary key does not name its store.
    package func queryIdentities<Object: ManagedObject>(_ query: AttributesQuery<Object>) throws(StorageError) -> [AttributeRow] {
        let positions = query.identityPositions
        if positions.isEmpty { return try queryAttributes(query) }
        return try reporting { () throws(StorageError) in
            try _withQueryContext(query.from.includesPendingChanges == true) { context throws(StorageError) in
                let (store, root) = try context.onlyPlace(of: query.from)
                return try context.queryAttributes(query).map { row in
                    var values = row.values
                    for position in positions {
                        guard case .int(let key) = values[position] else { continue }
                        values[position] = .string(ObjectKey(store: store, root: root, key: key).description)
                    }
                    return AttributeRow(names: row.names, values: values)
                }
            }
        }
    }
}

extension ObjectContext {
    /// Returns the store and the root entity of the objects of a request.
    fileprivate func onlyPlace<Object: ManagedObject>(of from: From<Object>) throws(StorageError) -> (store: UUID, root: String) {
        let entity = try from.entity(model), schema = model.schema, stores = try stores(for: entity, from.configurations)
        guard stores.count == 1 else {
            let name = schema.entities[entity].name
            throw StorageError(
                .unsupported,
                "a query of \(name) over several stores cannot return objects; specify one configuration with From(\"configuration\"), or fetch "
                    + "the ids",
                details: .init(entity: name))
        }
        return (stack.storeID(stores[0]), schema.entities[schema[entity].root].name)
    }
}
