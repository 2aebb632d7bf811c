/// One stored property of an entity, in the position in which rows and objects hold it.
public struct Slot: Sendable, Hashable {
    /// What the slot holds.
    public enum Content: Sendable, Hashable {
        /// An attribute.
        case attribute(Attribute)
        /// The key of a to-one relationship's destination, in the hierarchy of the entity at `destination`.
        case toOne(Relationship, destination: EntityIndex)
    }

    /// The stored name of the property.
    public let name: String
    /// What the slot holds.
    public let content: Content
    /// The position of the column in the table of the hierarchy (`EntityDescription.columns` of the root).
    public let column: Int
    /// The entity that declares the property.
    public let declaredIn: EntityIndex

    /// How the value lies in a cell.
    public var cellKind: CellKind {
        switch content {
        case .attribute(let attribute): attribute.type.cellKind
        case .toOne: .int
        }
    }

    /// The attribute, or nil for a relationship.
    public var attribute: Attribute? { if case .attribute(let attribute) = content { attribute } else { nil } }

    /// The type of the value: that of the attribute, `.int64` for a relationship's key.
    public var type: ValueType { attribute?.type ?? .int64 }

    /// The entity that a to-one relationship leads to.
    public var destination: EntityIndex? { if case .toOne(_, let destination) = content { destination } else { nil } }
}

/// One column of the table of a hierarchy.
public struct Column: Sendable, Hashable {
    /// The name in the table: that of the property, or `Entity.property` where sub-entities share a name.
    public let name: String
    /// The type of its values; `.int64` for the key of a to-one relationship.
    public let type: ValueType
    /// Whether it holds the key of a to-one relationship.
    public let isReference: Bool
}

/// A relationship as it is kept: where its keys lie.
public struct RelationshipDescription: Sendable, Hashable {
    /// Where the keys of a relationship lie.
    public enum Place: Sendable, Hashable {
        /// In a slot of the owner's own row.
        case slot(Int)
        /// In a slot of the destination's rows: the relationship is the inverse of a to-one.
        case inverseSlot(Int)
        /// In a link table; `side` tells which end the owner is.
        case link(Int, side: LinkSide)
        /// In a slot of the destination's rows for membership, and in a link table for the order.
        case orderedInverseSlot(Int, link: Int)
    }

    /// The declaration.
    public let relationship: Relationship
    /// The entity that it leads to.
    public let destination: EntityIndex
    /// Where its keys lie.
    public let place: Place
    /// The entity that declares it.
    public let declaredIn: EntityIndex
}

/// The two ends of a link table.
public enum LinkSide: Sendable, Hashable {
    /// The end whose relationship names the table; its order is the one that is kept.
    case owner
    /// The other end.
    case member
}

/// A table of pairs for a many-to-many, one-sided or ordered to-many relationship: owner, rank, member.
public struct LinkDescription: Sendable, Hashable {
    /// A name that is unique in the schema, `Entity.relationship` of the owner.
    public let name: String
    /// The entity and relationship that own the pairs.
    public let owner: EntityIndex
    /// The name of the owner's relationship.
    public let ownerRelationship: String
    /// The entity at the other end.
    public let member: EntityIndex
    /// The name of the inverse, nil for a relationship without one.
    public let memberRelationship: String?
    /// Whether the rank is part of the data; otherwise it is 0.
    public let isOrdered: Bool
}

/// What is derived of an entity: its hierarchy, its row layout, its relationships and rules with the inherited ones.
///
/// A class, because it is asked for at every turn and a copy of a value with so many parts would count a dozen references.
public final class EntityDescription: Sendable {
    /// The position in the schema.
    public let index: EntityIndex
    /// The stored name.
    public let name: String
    /// Whether only sub-entities can have objects.
    public let isAbstract: Bool
    /// The topmost parent: the entity whose table, keys and identity the hierarchy shares.
    public let root: EntityIndex
    /// The parent.
    public let parent: EntityIndex?
    /// The entity itself and all below it, in ascending order.
    public let family: [EntityIndex]
    /// The slots of a row: inherited ones first, in order of declaration, attributes before to-one relationships in each entity.
    public let slots: [Slot]
    /// The relationships, inherited ones first.
    public let relationships: [RelationshipDescription]
    /// The columns of the hierarchy's table; filled for a root, empty for others.
    public let columns: [Column]
    /// The ordered indexes as lists of slots, with inherited ones.
    public let indexes: [[Int]]
    /// The slots with a full-text index, with inherited ones.
    public let fullTextSlots: [Int]
    /// The unique constraints as lists of slots, with inherited ones; each with the entity that declares it.
    public let uniqueConstraints: [ResolvedConstraint]

    let slotByName: [String: Int]
    let relationshipByName: [String: Int]

    /// Whether the hierarchy has more than one entity, so that rows carry the entity's number.
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

    /// The slot of a property, or nil.
    public func slot(_ name: String) -> Int? { slotByName[name] }

    /// The position of a relationship, or nil.
    public func relationshipIndex(_ name: String) -> Int? { relationshipByName[name] }

    /// The relationship of a name, or nil.
    public func relationship(_ name: String) -> RelationshipDescription? { relationshipByName[name].map { relationships[$0] } }
}

/// A unique constraint over slots.
public struct ResolvedConstraint: Sendable, Hashable {
    /// The entity that declares it; it binds that entity's whole family.
    public let declaredIn: EntityIndex
    /// The slots, the same in every member of the family.
    public let slots: [Int]
    /// The name, such as `Person(email)`.
    public let name: String
}
