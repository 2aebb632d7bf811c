/// The primary keys of objects after a migration step. Objects keep their keys, unless several hierarchies are merged into one: then the
/// keys of the second hierarchy are raised by the counter of the first, and so on, so that no lookup table of keys is needed.
public struct MigrationKeys: Sendable {
    /// The newer schema.
    public let schema: Schema
    private let old: Schema
    private var offsets: [EntityIndex: [EntityIndex: Int64]] = [:]
    /// The first key of each hierarchy of the newer version that no object of the older version has.
    public private(set) var limits: [EntityIndex: Int64] = [:]

    /// Creates the keys of a step.
    ///
    /// - Parameter limit: Returns the first key of an old hierarchy that no object has.
    public init(_ mapping: SchemaMapping, limit: (EntityIndex) throws(StorageError) -> Int64) throws(StorageError) {
        schema = mapping.destination
        old = mapping.source
        for root in schema.roots {
            var next: Int64 = 0
            for origin in mapping.origins(ofRoot: root) {
                offsets[root, default: [:]][origin] = next
                let (sum, overflows) = next.addingReportingOverflow(try limit(origin))
                if overflows {
                    throw StorageError(
                        .limitExceeded,
                        "the primary keys of the hierarchies that are merged into \(schema.entities[root].name) are too great; transfer "
                            + "the store to a new one first"
                    )
                }
                next = sum
            }
            limits[root] = max(next, 1)
        }
    }

    /// Returns the amount by which the keys of an old hierarchy rise in a new hierarchy.
    public func offset(from oldRoot: EntityIndex, to newRoot: EntityIndex) -> Int64 { offsets[newRoot]?[oldRoot] ?? 0 }

    /// Returns the key that an old object has in the hierarchy of a new entity.
    func key(_ key: Int64, from oldRoot: EntityIndex, inHierarchyOf entity: EntityIndex) -> Int64 {
        key &+ offset(from: oldRoot, to: schema[entity].root)
    }
}
