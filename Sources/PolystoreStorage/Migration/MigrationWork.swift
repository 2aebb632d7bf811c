/// The parts of the newer version that the caller of a step has to write. The store takes over all other parts or changes them in place.
public struct MigrationWork: Sendable {
    /// Hierarchies of the newer version, which are empty.
    public var roots: Set<EntityIndex>
    /// Link tables of the newer version, which are empty.
    public var links: Set<Int>

    /// Creates a description of the work.
    public init(roots: Set<EntityIndex>, links: Set<Int>) {
        self.roots = roots
        self.links = links
    }
}
