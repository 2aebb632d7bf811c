internal import PolystoreSchema

/// A checked and normalised query for values.
///
/// Without grouping, the rows of the fetch produce the rows of the answer. With grouping, the fetch has no order and no limit: its rows are
/// grouped, and `GroupAnswer` creates the rows of the answer from the groups.
public struct QueryPlan: Sendable, Hashable {
    /// The processing of the rows of the fetch.
    public enum Kind: Sendable, Hashable {
        /// Each row produces a row of the answer with these values.
        case rows([CheckedExpression])
        /// The rows are grouped.
        case groups(Grouping)
    }

    /// Groups of rows, and the rows of the answer computed from them.
    public struct Grouping: Sendable, Hashable {
        /// The grouping keys. Without keys there is one group of all rows, even if there are no rows.
        public var keys: [CheckedExpression]
        /// The aggregates over the rows of each group.
        public var aggregates: [CheckedAggregate]
        /// The values of each row of the answer, from a row of keys and aggregates.
        public var outputs: [CheckedExpression]
        /// The condition on groups.
        public var having: CheckedPredicate
        /// Whether only the first of equal rows of the answer is kept.
        public var isDistinct: Bool
        /// The order of the answer. Ties are resolved by the keys, ascending.
        public var sort: [CheckedSort]
        /// The maximum number of rows; nil for no limit.
        public var limit: Int?
        /// The number of rows to skip.
        public var offset: Int

        /// Creates a grouping from parts that are valid together.
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

    /// The rows that the query reads.
    public var fetch: FetchPlan
    /// The processing of the rows.
    public var kind: Kind

    /// Creates a plan from parts that are valid together.
    public init(fetch: FetchPlan, kind: Kind) {
        self.fetch = fetch
        self.kind = kind
    }

    /// Returns the plan for the number of rows of a fetch, whose order and limit are ignored.
    public static func count(_ fetch: FetchPlan) -> QueryPlan {
        var fetch = fetch
        fetch.sort = []
        fetch.limit = nil
        fetch.offset = 0
        let count = CheckedAggregate(.count, nil, .int64)
        return QueryPlan(
            fetch: fetch, kind: .groups(Grouping(keys: [], aggregates: [count], outputs: [.path(Grouping.path(0, .int64))])))
    }

    /// Whether the plan requests only the number of rows.
    public var isCount: Bool { self == .count(fetch) }
}

extension QueryPlan.Grouping {
    /// Returns the name of the value at a position of a group.
    static func name(_ position: Int) -> PropertyPath { PropertyPath(["v\(position)"]) }

    /// Returns the path of the value at a position of a group.
    static func path(_ position: Int, _ type: ValueType) -> CheckedPath {
        CheckedPath(steps: [], entity: 0, leaf: .slot(position), type: type, text: "v\(position)")
    }

    /// Returns a schema in which a group is an object with its keys and aggregates as attributes.
    static func schema(_ types: [ValueType]) -> Schema {
        let attributes = types.enumerated().map { Attribute("v\($0)", $1, isOptional: true) }
        return (try? Schema(entities: [Entity("Group", attributes: attributes)])) ?? .empty
    }
}
