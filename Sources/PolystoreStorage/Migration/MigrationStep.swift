/// A migration of a store from one version of the model to the next.
public struct MigrationStep: Sendable {
    /// The origin of every part of the newer schema.
    public let mapping: SchemaMapping
    /// The hierarchies of the newer version that the caller writes, even if the store could change them in place: the requested
    /// hierarchies, and those with references to objects whose keys change.
    public let writtenRoots: Set<EntityIndex>

    /// Creates a step.
    public init(_ mapping: SchemaMapping, writtenRoots: Set<EntityIndex> = []) {
        self.mapping = mapping
        self.writtenRoots = writtenRoots.union(mapping.rootsWithOtherReferences)
    }
}
