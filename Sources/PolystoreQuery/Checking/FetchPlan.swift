public import PolystoreSchema

/// A fetch that was checked and normalised: all that a store needs to answer it.
public struct FetchPlan: Sendable, Hashable {
    /// What the store is to return of each row.
    public enum Fields: Sendable, Hashable {
        /// All cells of the row's entity.
        case all
        /// Only key, version and entity; the cells are null.
        case keysOnly
        /// The attributes in a set of the asked entity's slots, and all references; the other cells may be null.
        case some(SlotMask)

        /// Whether the cell of a slot must be returned. Of the slots from 63 on either all are or none.
        public func includes(_ slot: Int, _ description: Slot) -> Bool {
            switch self {
            case .all: true
            case .keysOnly: false
            case .some(let mask):
                description.attribute == nil || mask.contains(slot) || (slot >= 63 && (mask.low >> 63 != 0 || !mask.high.isEmpty))
            }
        }
    }

    /// The entity that was asked for.
    public var entity: EntityIndex
    /// The entities whose rows are included: the asked one and, unless they are left out, those below it; ascending.
    public var entities: [EntityIndex]
    /// The condition.
    public var predicate: CheckedPredicate
    /// The order; every tie is broken by the key, ascending.
    public var sort: [CheckedSort]
    /// The greatest number of rows; nil for no limit.
    public var limit: Int?
    /// The number of rows to leave out at the beginning.
    public var offset: Int
    /// What is returned of each row.
    public var fields: Fields

    /// A plan from parts that are valid together.
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

    /// A plan for all objects of an entity's family that satisfy a checked predicate.
    public init(_ schema: Schema, _ entity: EntityIndex, where predicate: CheckedPredicate = .constant(true), fields: Fields = .all) {
        self.init(entity: entity, entities: schema[entity].family, predicate: predicate, fields: fields)
    }
}

/// An aggregate over something of each object, or over the objects.
public struct CheckedAggregate: Sendable, Hashable {
    /// What is computed.
    public let function: AggregateFunction
    /// What it is computed over; nil for a count of objects.
    public let argument: CheckedExpression?
    /// The type of the result.
    public let type: ValueType

    /// A checked aggregate.
    public init(_ function: AggregateFunction, _ argument: CheckedExpression?, _ type: ValueType) {
        self.function = function
        self.argument = argument
        self.type = type
    }
}

/// A query for values that was checked and normalised.
///
/// Without grouping the rows of the fetch give the rows of the answer. With grouping the fetch has no order and no limit: its rows are
/// grouped, and `GroupAnswer` makes the rows of the answer from the groups.
public struct QueryPlan: Sendable, Hashable {
    /// What becomes of the rows of the fetch.
    public enum Kind: Sendable, Hashable {
        /// Each gives a row of the answer: these values of it.
        case rows([CheckedExpression])
        /// They are grouped.
        case groups(Grouping)
    }

    /// Groups of rows, and what is made of them.
    public struct Grouping: Sendable, Hashable {
        /// The grouping keys; none for one group of all rows, also where there is none.
        public var keys: [CheckedExpression]
        /// What is computed over the rows of each group.
        public var aggregates: [CheckedAggregate]
        /// The values of each row of the answer, from a row of keys and aggregates.
        public var outputs: [CheckedExpression]
        /// Which groups are in the answer.
        public var having: CheckedPredicate
        /// Whether of equal rows of the answer only the first is kept.
        public var isDistinct: Bool
        /// The order of the answer; ties are broken by the keys, ascending.
        public var sort: [CheckedSort]
        /// The greatest number of rows; nil for no limit.
        public var limit: Int?
        /// The number of rows to leave out at the beginning.
        public var offset: Int

        /// A grouping from parts that are valid together.
        public init(
            keys: [CheckedExpression], aggregates: [CheckedAggregate], outputs: [CheckedExpression],
            having: CheckedPredicate = .constant(true), isDistinct: Bool = false, sort: [CheckedSort] = [], limit: Int? = nil,
            offset: Int = 0
        ) {
            self.keys = keys
            self.aggregates = aggregates
            self.outputs = outputs
            self.having = having
            self.isDistinct = isDistinct
            self.sort = sort
            self.limit = limit
            self.offset = offset
        }
    }

    /// Which rows are looked at.
    public var fetch: FetchPlan
    /// What becomes of them.
    public var kind: Kind

    /// A plan from parts that are valid together.
    public init(fetch: FetchPlan, kind: Kind) {
        self.fetch = fetch
        self.kind = kind
    }

    /// The number of rows of a fetch, whose order and limit do not count.
    public static func count(_ fetch: FetchPlan) -> QueryPlan {
        var fetch = fetch
        fetch.sort = []
        fetch.limit = nil
        fetch.offset = 0
        let count = CheckedAggregate(.count, nil, .int64)
        return QueryPlan(
            fetch: fetch, kind: .groups(Grouping(keys: [], aggregates: [count], outputs: [.path(GroupAnswer.path(0, .int64))])))
    }

    /// Whether the plan asks for nothing but the number of rows.
    public var isCount: Bool { self == .count(fetch) }
}
