public import PolystoreSchema

/// A checked and normalised fetch: everything that a store needs to answer it.
public struct FetchPlan: Sendable, Hashable {
    /// The fields that the store returns for each row.
    public enum Fields: Sendable, Hashable {
        /// All cells of the row's entity.
        case all
        /// Only key, version and entity; the cells are null.
        case keysOnly
        /// The attributes in a set of the fetched entity's slots, and all references; the other cells may be null.
        case some(SlotMask)

        /// Returns whether the cell of a slot must be returned. Of the slots from 63 on either all are or none.
        public func includes(_ slot: Int, _ description: Slot) -> Bool {
            switch self {
            case .all: true
            case .keysOnly: false
            case .some(let mask):
                description.attribute == nil || mask.contains(slot) || (slot >= 63 && (mask.low >> 63 != 0 || !mask.high.isEmpty))
            }
        }
    }

    /// The fetched entity.
    public var entity: EntityIndex
    /// The entities whose rows are included: the fetched one and, unless they are excluded, its descendants; ascending.
    public var entities: [EntityIndex]
    /// The condition.
    public var predicate: CheckedPredicate
    /// The order. Ties are resolved by the key, ascending.
    public var sort: [CheckedSort]
    /// The maximum number of rows; nil for no limit.
    public var limit: Int?
    /// The number of rows to skip.
    public var offset: Int
    /// The fields returned for each row.
    public var fields: Fields

    /// Creates a plan from parts that are valid together.
    public init(
        entity: EntityIndex, entities: [EntityIndex], predicate: CheckedPredicate = .constant(true), sort: [CheckedSort] = [],
        limit: Int? = nil, offset: Int = 0, fields: Fields = .all
    ) {
        self.entity = entity
        self.entities = entities
        self.predicate = predicate
        self.sort = sort
        self.limit = limit
        self.offset = offset
        self.fields = fields
    }

    /// Creates a plan for all objects of an entity's family that satisfy a checked predicate.
    public init(_ schema: Schema, _ entity: EntityIndex, where predicate: CheckedPredicate = .constant(true), fields: Fields = .all) {
        self.init(entity: entity, entities: schema[entity].family, predicate: predicate, fields: fields)
    }
}
