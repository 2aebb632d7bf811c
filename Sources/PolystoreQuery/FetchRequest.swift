/// One key of an order.
public struct SortDescriptor: Sendable, Hashable {
    /// The property, through to-one relationships.
    public var path: PropertyPath
    /// Whether small values come first; nil is the smallest.
    public var ascending: Bool

    /// A sort key.
    public init(_ path: PropertyPath, ascending: Bool = true) {
        self.path = path
        self.ascending = ascending
    }
}

/// Which objects are wanted, in what order and how many; a value that can be sent, with names not yet checked.
public struct FetchRequest: Sendable, Hashable {
    /// The name of the entity.
    public var entity: String
    /// The condition; nil for all objects.
    public var predicate: Predicate?
    /// The order; ties, and everything when there is no key, are ordered by object key.
    public var sortDescriptors: [SortDescriptor]
    /// The greatest number of objects; nil for no limit.
    public var limit: Int?
    /// The number of objects to leave out at the beginning.
    public var offset: Int
    /// Whether objects of sub-entities are included.
    public var includesSubentities: Bool

    /// A request; everything but the entity may be left out.
    public init(
        _ entity: String, where predicate: Predicate? = nil, orderBy sortDescriptors: [SortDescriptor] = [], limit: Int? = nil,
        offset: Int = 0, includesSubentities: Bool = true
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        self.limit = limit
        self.offset = offset
        self.includesSubentities = includesSubentities
    }
}

/// What is computed over many values; nil is skipped by all but a count of objects.
public enum AggregateFunction: String, Sendable, Hashable, CaseIterable {
    /// The number of objects, or of values that are not nil.
    case count
    /// The number of different values that are not nil.
    case countDistinct
    /// The total; zero of nothing. Integers give an Int64 or `.arithmeticOverflow`.
    case sum
    /// The mean; nil of nothing. A Decimal of decimals, else a Double.
    case average
    /// The smallest; nil of nothing.
    case minimum
    /// The greatest; nil of nothing.
    case maximum
}

/// One aggregate: a function over a property, or over the objects themselves.
public struct Aggregate: Sendable, Hashable {
    /// What is computed.
    public var function: AggregateFunction
    /// The property; nil only for a count of objects.
    public var path: PropertyPath?

    /// An aggregate over a property, or over objects.
    public init(_ function: AggregateFunction, _ path: PropertyPath? = nil) {
        self.function = function
        self.path = path
    }
}

/// One value in each row of a query's answer.
public enum QueryOutput: Sendable, Hashable {
    /// The value of a property, which must be among the grouping keys when there are aggregates.
    case property(PropertyPath)
    /// An aggregate over the group.
    case aggregate(Aggregate)
}

/// A request for values instead of objects.
public struct QueryRequest: Sendable, Hashable {
    /// Which objects are looked at; its order, limit and offset apply to the rows of the answer.
    public var fetch: FetchRequest
    /// What each row of the answer holds.
    public var outputs: [QueryOutput]
    /// The grouping keys.
    public var groupBy: [PropertyPath]

    /// A request for values.
    public init(_ fetch: FetchRequest, outputs: [QueryOutput], groupBy: [PropertyPath] = []) {
        self.fetch = fetch
        self.outputs = outputs
        self.groupBy = groupBy
    }
}
