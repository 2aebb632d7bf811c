internal import Polystore
internal import PolystoreStorage

/// Finds objects of a transaction by entity and primary key.
struct ObjectLookup {
    let stack: DataStack
    let transaction: WriteTransaction

    var schema: Schema { stack.schema }

    /// Returns an entity.
    ///
    /// - Throws: `invalidPredicate` for an unknown entity, with the most similar one.
    func description(_ entity: String) throws(StorageError) -> EntityDescription {
        if let index = schema.index(of: entity) { return schema[index] }
        throw StorageError(
            .invalidPredicate,
            "the model has no entity \"\(entity.excerpt())\"\(Suggestion.nearest(entity, in: schema.entities.map(\.name)))")
    }

    /// Returns an object for editing; nil if it does not exist.
    ///
    /// - Throws: `invalidPredicate` for an unknown entity, with the most similar one; `invalidConfiguration` if several stores have an object
    ///   of the key.
    func find(_ entity: String, _ key: Int64) throws(StorageError) -> DynamicObject? {
        let index = try description(entity).index
        let root = schema.entities[schema[index].root].name
        var found: DynamicObject?
        for position in try stack.core.stores(for: index, nil) {
            let id = ObjectID<DynamicObject>(ObjectKey(store: stack.core.storeID(position), root: root, key: key))
            guard let object = try transaction.edit(id), schema[index].family.contains(Int(object._entity)) else { continue }
            if found != nil {
                throw StorageError(
                    .invalidConfiguration, "several stores have an object of \(entity) with the key \(key)",
                    details: .init(entity: entity, keys: [key]))
            }
            found = object
        }
        return found
    }

    /// Returns an object for editing.
    ///
    /// - Throws: `notFound` if it does not exist.
    func existing(_ entity: String, _ key: Int64) throws(StorageError) -> DynamicObject {
        if let object = try find(entity, key) { return object }
        throw StorageError(.notFound, "no object of \(entity) has the key \(key)", details: .init(entity: entity, keys: [key]))
    }
}
