/// The maximum sizes of a schema: far larger than any schema that people write, and small enough to limit the size of all derived
/// information.
struct SchemaLimits {
    /// Rows contain the number of their entity in 16 bits.
    private static let mostEntities = 32_767
    private static let mostMembers = 100_000
    private static let mostParents = 100
    private static let mostProperties = 200_000
    /// The column limit of the store that supports the most columns.
    private static let mostPropertiesOfOne = 4096

    let entities: [Entity]
    let configurations: [String: [String]]

    /// Checks the limits. Inherited properties count for every entity, because stores and objects are derived from them.
    func check() throws(SchemaError) {
        if entities.count > Self.mostEntities {
            throw SchemaError("", "a schema can have at most \(Self.mostEntities) entities")
        }
        if configurations.values.reduce(0, { $0 + 1 + $1.count }) > Self.mostMembers {
            throw SchemaError("", "a schema can have at most \(Self.mostMembers) configurations and entities in them")
        }
        let places = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let sizes = entities.map(Self.size)
        var total = 0
        for (index, entity) in entities.enumerated() {
            var current: Int? = index, parents = 0, own = 0
            while let here = current {
                if parents > Self.mostParents {
                    throw SchemaError(entity.name, "the entity has more than \(Self.mostParents) ancestors")
                }
                own += sizes[here]
                parents += 1
                current = entities[here].parent.flatMap { places[$0] }
            }
            if own > Self.mostPropertiesOfOne {
                throw SchemaError(
                    entity.name, "an entity can have at most \(Self.mostPropertiesOfOne) properties, including inherited ones")
            }
            total += own
            if total > Self.mostProperties {
                throw SchemaError(
                    entity.name, "a schema can have at most \(Self.mostProperties) properties, including inherited ones in each entity")
            }
        }
    }

    private static func size(_ entity: Entity) -> Int {
        entity.attributes.count + entity.relationships.count + entity.indexes.reduce(0) { $0 + $1.properties.count }
            + entity.uniqueConstraints.reduce(0) { $0 + $1.properties.count }
    }
}
