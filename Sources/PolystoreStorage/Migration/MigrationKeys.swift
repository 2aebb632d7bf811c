/// The keys that objects have after a step: their own, unless objects of several hierarchies come together in one. Then those of the second
/// are raised by the counter of the first, and so on, so that a key is found without a table of keys.
public struct MigrationKeys: Sendable {
    /// The newer version.
    public let schema: Schema
    private let old: Schema
    private var offsets: [EntityIndex: [EntityIndex: Int64]] = [:]
    /// The first key of each hierarchy of the newer version that no object of the older one has.
    public private(set) var limits: [EntityIndex: Int64] = [:]

    /// The keys of a step.
    ///
    /// - Parameter limit: The first key of an old hierarchy that no object has.
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
                        .limitExceeded, "the keys of hierarchies that come together are too great; transfer the store to a new one first")
                }
                next = sum
            }
            limits[root] = max(next, 1)
        }
    }

    /// By how much the keys of an old hierarchy rise in a new one.
    public func offset(from oldRoot: EntityIndex, to newRoot: EntityIndex) -> Int64 { offsets[newRoot]?[oldRoot] ?? 0 }

    /// The key of the object that an old one becomes in the hierarchy of a new entity.
    func key(_ key: Int64, from oldRoot: EntityIndex, inHierarchyOf entity: EntityIndex) -> Int64 {
        key &+ offset(from: oldRoot, to: schema[entity].root)
    }
}
