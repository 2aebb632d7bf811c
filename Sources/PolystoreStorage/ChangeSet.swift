/// All changes that one flush or commit applies to one store.
public struct ChangeSet {
    /// The changes by entity. Each entity occurs at most once.
    public var entities: [EntityChanges]
    /// The changes by link table. Each table occurs at most once.
    public var links: [LinkChanges]

    /// Creates a change set, by default an empty one.
    public init(entities: [EntityChanges] = [], links: [LinkChanges] = []) {
        self.entities = entities
        self.links = links
    }

    /// Whether the change set contains no changes.
    public var isEmpty: Bool { entities.isEmpty && links.isEmpty }
}
