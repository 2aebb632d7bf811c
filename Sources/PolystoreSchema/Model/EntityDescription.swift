/// The derived description of an entity: its hierarchy, its row layout, and its relationships and rules including inherited ones.
///
/// A class, because it is accessed very often, and copying a structure with so many parts would count a dozen references.
public final class EntityDescription: Sendable {
    /// The index of the entity in the schema.
    public let index: EntityIndex
    /// The stored name.
    public let name: String
    /// Whether only subentities can have objects.
    public let isAbstract: Bool
    /// The topmost parent, whose table, keys, and identity the hierarchy shares.
    public let root: EntityIndex
    /// The parent entity, or nil for a root.
    public let parent: EntityIndex?
    /// The entity itself and all its subentities, in ascending order.
    public let family: [EntityIndex]
    /// The slots of a row: inherited ones first, in order of declaration, and in each entity attributes before to-one relationships.
    public let slots: [Slot]
    /// The relationships. Inherited ones come first.
    public let relationships: [RelationshipDescription]
    /// The columns of the hierarchy's table. Empty for an entity that is not a root.
    public let columns: [Column]
    /// The ordered indexes as lists of slots, including inherited ones.
    public let indexes: [[Int]]
    /// The slots with a full-text index, including inherited ones.
    public let fullTextSlots: [Int]
    /// The unique constraints, including inherited ones, each with its slots and the entity that declares it.
    public let uniqueConstraints: [ResolvedConstraint]

    let slotByName: [String: Int]
    let relationshipByName: [String: Int]

    /// Whether the hierarchy has more than one entity, so that rows contain the number of their entity.
    public let isHierarchy: Bool

    init(
        index: EntityIndex,
        name: String,
        isAbstract: Bool,
        root: EntityIndex,
        parent: EntityIndex?,
        family: [EntityIndex],
        slots: [Slot],
        relationships: [RelationshipDescription],
        columns: [Column],
        indexes: [[Int]],
        fullTextSlots: [Int],
        uniqueConstraints: [ResolvedConstraint],
        slotByName: [String: Int],
        relationshipByName: [String: Int],
        isHierarchy: Bool
    ) {
        self.index = index
        self.name = name
        self.isAbstract = isAbstract
        self.root = root
        self.parent = parent
        self.family = family
        self.slots = slots
        self.relationships = relationships
        self.columns = columns
        self.indexes = indexes
        self.fullTextSlots = fullTextSlots
        self.uniqueConstraints = uniqueConstraints
        self.slotByName = slotByName
        self.relationshipByName = relationshipByName
        self.isHierarchy = isHierarchy
    }

    /// Returns the slot of a property, or nil.
    public func slot(_ name: String) -> Int? { slotByName[name] }

    /// Returns the position of a relationship, or nil.
    public func relationshipIndex(_ name: String) -> Int? { relationshipByName[name] }

    /// Returns the relationship with a name, or nil.
    public func relationship(_ name: String) -> RelationshipDescription? { relationshipByName[name].map { relationships[$0] } }
}
