/// The origin in an older version of a model of everything that a newer version stores.
///
/// The initial mapping is inferred from the two schemas. A program's own mapping changes single entities of it.
public struct SchemaMapping: Sendable, Hashable {
    /// The older version.
    public let source: Schema
    /// The newer version.
    public let destination: Schema
    /// The mappings of entities. Objects of a concrete entity that is the source of no mapping are discarded.
    package var entities: [EntityMapping]
    /// The source of the pairs of each link table of the newer version.
    package var links: [LinkSource]
    let direction: Renames.Direction

    /// Creates the mapping that is inferred from two schemas. A declaration corresponds to the one with its `originalName`, otherwise to
    /// the one with its name.
    public init(from source: Schema, to destination: Schema) { self.init(from: source, to: destination, .forward) }

    /// Creates the mapping from a version back to a preceding one. The destination is the version from which `newer` was once migrated.
    ///
    /// Declarations that `newer` renamed return to their original names: the names are matched as in the forward direction, in reverse. The
    /// older version itself, which cannot contain a later name, remains unchanged. Data of declarations that only `newer` has is lost, as
    /// if an update had removed them.
    public init(from newer: Schema, backTo older: Schema) { self.init(from: newer, to: older, .back) }

    private init(from source: Schema, to destination: Schema, _ direction: Renames.Direction) {
        self.source = source
        self.destination = destination
        self.direction = direction
        let names = Renames(
            from: source.entities.map { ($0.name, $0.originalName) }, to: destination.entities.map { ($0.name, $0.originalName) },
            direction)
        entities = source.descriptions.compactMap { before in
            guard !before.isAbstract, let after = names.successors[before.name].flatMap(destination.index(of:)),
                !destination[after].isAbstract
            else { return nil }
            return EntityMapping(from: before, source, to: destination[after], destination, direction)
        }
        links = []
        settle()
    }

    /// All differences between the stored forms of the source and the destination, entity by entity, with names matched as in this mapping.
    public var changes: [SchemaChange] { SchemaComparison.changes(from: source, to: destination, direction) }

    /// Returns the mappings of an entity of the older version.
    package func mappings(of entity: EntityIndex) -> [EntityMapping] { entities.filter { $0.source == entity } }

    /// Returns the roots of the older version whose objects are mapped to a hierarchy of the newer version, in ascending order.
    public func origins(ofRoot root: EntityIndex) -> [EntityIndex] {
        Set(entities.filter { destination[$0.destination].root == root }.map { source[$0.source].root }).sorted()
    }
}
