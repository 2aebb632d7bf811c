/// A stored property of an entity, with its position in rows and objects.
public struct Slot: Sendable, Hashable {
    /// The content of a slot.
    public enum Content: Sendable, Hashable {
        /// An attribute.
        case attribute(Attribute)
        /// The primary key of a to-one relationship's destination, in the hierarchy of the entity at `destination`.
        case toOne(Relationship, destination: EntityIndex)
    }

    /// The stored name of the property.
    public let name: String
    /// The content of the slot.
    public let content: Content
    /// The position of the column in the table of the hierarchy (`EntityDescription.columns` of the root).
    public let column: Int
    /// The entity that declares the property.
    public let declaredIn: EntityIndex

    /// The representation of the value in a cell.
    public var cellKind: CellKind {
        switch content {
        case .attribute(let attribute): attribute.type.cellKind
        case .toOne: .int
        }
    }

    /// The attribute, or nil for a relationship.
    public var attribute: Attribute? { if case .attribute(let attribute) = content { attribute } else { nil } }

    /// The type of the value: that of the attribute, or `.int64` for the key of a relationship.
    public var type: ValueType { attribute?.type ?? .int64 }

    /// The destination entity of a to-one relationship, or nil for an attribute.
    public var destination: EntityIndex? { if case .toOne(_, let destination) = content { destination } else { nil } }
}

/// A column of the table of a hierarchy.
public struct Column: Sendable, Hashable {
    /// The name of the column in the table: that of the property, or `Entity.property` if several subentities have a property of that name.
    public let name: String
    /// The type of the values, which is `.int64` for the key of a to-one relationship.
    public let type: ValueType
    /// Whether the column contains the key of a to-one relationship.
    public let isReference: Bool
}

/// A relationship and the location of its keys.
public struct RelationshipDescription: Sendable, Hashable {
    /// The location of the keys of a relationship.
    public enum Place: Sendable, Hashable {
        /// In a slot of the owner's own row.
        case slot(Int)
        /// In a slot of the destination's rows, because the relationship is the inverse of a to-one relationship.
        case inverseSlot(Int)
        /// In a link table. `side` is the end at which the relationship's owner is.
        case link(Int, side: LinkSide)
        /// In a slot of the destination's rows for membership, and in a link table for the order.
        case orderedInverseSlot(Int, link: Int)
    }

    /// The declaration of the relationship.
    public let relationship: Relationship
    /// The destination entity.
    public let destination: EntityIndex
    /// The location of the keys.
    public let place: Place
    /// The entity that declares the relationship.
    public let declaredIn: EntityIndex
}

/// The two ends of a link table.
public enum LinkSide: Sendable, Hashable {
    /// The end whose relationship gives the table its name. The table keeps the order of this relationship.
    case owner
    /// The other end.
    case member
}

/// A table of pairs (owner, rank, member) for a many-to-many relationship, a to-many relationship without an inverse, or an ordered to-many
/// relationship.
public struct LinkDescription: Sendable, Hashable {
    /// A name that is unique in the schema: `Entity.relationship` of the owner.
    public let name: String
    /// The entity that owns the pairs.
    public let owner: EntityIndex
    /// The name of the owner's relationship.
    public let ownerRelationship: String
    /// The entity at the other end.
    public let member: EntityIndex
    /// The name of the inverse relationship, or nil if there is none.
    public let memberRelationship: String?
    /// Whether the rank is part of the data. Otherwise it is 0.
    public let isOrdered: Bool
}

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

/// A unique constraint over slots.
public struct ResolvedConstraint: Sendable, Hashable {
    /// The entity that declares the constraint, which applies to that entity's whole family.
    public let declaredIn: EntityIndex
    /// The slots, which are the same in every member of the family.
    public let slots: [Int]
    /// The name of the constraint, such as `Person(email)`.
    public let name: String
}
