package import PolystoreStorage

extension RequestDescription {
    /// Checks the key paths of the relationships whose objects are part of the answer.
    ///
    /// - Throws: `invalidPredicate` for a path that the model does not have, or one of too many relationships. Each of them multiplies the answer.
    package func checkPrefetched(in schema: Schema) throws(StorageError) {
        for path in prefetched {
            let names = PropertyPath(path).names
            if names.count > 32 { throw StorageError(.invalidPredicate, "a path of \"prefetch\" can have at most 32 relationships") }
            var index = schema.index(of: entity)
            for name in names {
                guard let present = index else { break }
                let family = schema[present].family
                guard let found = family.lazy.compactMap({ schema[$0].relationship(name)?.relationship }).first else {
                    let known = family.flatMap { schema[$0].relationships.map(\.relationship.name) }
                    throw StorageError(
                        .invalidPredicate,
                        "\"prefetch\": \(schema[present].name) has no relationship \"\(name.excerpt())\"\(Suggestion.nearest(name, in: known))",
                        details: .init(entity: schema[present].name, property: name))
                }
                index = schema.index(of: found.destination)
            }
        }
    }
}
