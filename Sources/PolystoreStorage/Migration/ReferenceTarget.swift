/// The objects that a to-one relationship of the newer version accepts.
struct ReferenceTarget {
    /// The destination of the relationship.
    let entity: EntityDescription
    /// The entities of the older version whose objects become objects of the destination and keep their keys.
    private let sources: Set<EntityIndex>

    init(_ destination: EntityIndex, _ schemas: SchemaMapping) {
        let entity = schemas.destination[destination]
        // Of several objects that an old one becomes in a hierarchy, the one of the first mapping has its key.
        var successors: [EntityIndex: EntityIndex] = [:]
        for part in schemas.entities where successors[part.source] == nil && schemas.destination[part.destination].root == entity.root {
            successors[part.source] = part.destination
        }
        self.entity = entity
        sources = Set(successors.filter { entity.family.contains($0.value) }.keys)
    }

    /// Returns the key to which an object of this migration refers in the hierarchy of the destination; nil for an object of another entity.
    func key(of object: UnsafeSourceObject, _ keys: MigrationKeys) -> Int64? {
        sources.contains(object.entity.index) ? keys.key(object.key, from: object.entity.root, inHierarchyOf: entity.index) : nil
    }

    /// Returns the key of an object of this migration; nil for an object of another entity.
    func key(of object: UnsafeDestinationObject) -> Int64? {
        object.entity.index == entity.index || entity.family.contains(object.entity.index) ? object.key : nil
    }
}
