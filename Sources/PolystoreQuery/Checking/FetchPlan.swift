public import PolystoreSchema

/// A fetch that was checked and normalised: all that a store needs to answer it.
public struct FetchPlan: Sendable, Hashable {
    /// What the store is to return of each row.
    public enum Fields: Sendable, Hashable {
        /// All cells of the row's entity.
        case all
        /// Only key, version and entity; the cells are null.
        case keysOnly
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

/// A query for values that was checked and normalised.
public struct QueryPlan: Sendable, Hashable {
    /// One value of each row of the answer.
    public enum Output: Sendable, Hashable {
        /// The grouping key at a position.
        case group(Int)
        /// The value of a property; only in a plan without aggregates and grouping.
        case property(CheckedPath)
        /// An aggregate; the path is nil for a count of objects.
        case aggregate(AggregateFunction, CheckedPath?)
    }

    /// One key of the order of the answer's rows.
    public struct Sort: Sendable, Hashable {
        /// The position of an output.
        public let output: Int
        /// Whether small values come first; nil is the smallest.
        public let ascending: Bool

        /// A sort key over an output.
        public init(output: Int, ascending: Bool) {
            self.output = output
            self.ascending = ascending
        }
    }

    /// Which rows are looked at. Its order, limit and offset apply in a plan without aggregates and grouping; elsewhere they are
    /// empty and those of the plan apply.
    public var fetch: FetchPlan
    /// The grouping keys; rows with equal keys, nil equal to nil, form one group. Without keys and with aggregates all rows are one.
    public var groupBy: [CheckedPath]
    /// What each row of the answer holds.
    public var outputs: [Output]
    /// The order of the groups; ties by the grouping keys in ascending order.
    public var sort: [Sort]
    /// The greatest number of groups.
    public var limit: Int?
    /// The number of groups to leave out at the beginning.
    public var offset: Int

    /// A plan from parts that are valid together.
    public init(
        fetch: FetchPlan, groupBy: [CheckedPath] = [], outputs: [Output], sort: [Sort] = [], limit: Int? = nil, offset: Int = 0
    ) {
        self.fetch = fetch
        self.groupBy = groupBy
        self.outputs = outputs
        self.sort = sort
        self.limit = limit
        self.offset = offset
    }

    /// Whether the answer has one row per group.
    public var isAggregate: Bool {
        !groupBy.isEmpty || outputs.contains { if case .aggregate = $0 { true } else { false } }
    }
}
