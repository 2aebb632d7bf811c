internal import PolystoreStorage

/// A request for rows of values, grouped or not.
public struct AttributesQuery<Object: ManagedObject>: Sendable {
    package private(set) var from: From<Object>
    let outputs: [Select<Object>]
    private(set) var keys: [QueryExpression] = []
    private(set) var condition: QueryPredicate?
    private(set) var isDistinct = false
    private var dropsOrderOfOneRow = false
    private(set) var problem: StorageError?

    init(_ from: From<Object>, _ outputs: [Select<Object>]) {
        self.from = from
        self.outputs = outputs
        problem = from.problem ?? outputs.lazy.compactMap(\.problem).first
    }

    /// Creates a query with the outputs, the groups and the distinctness of a request, over the objects of `from`.
    package init(_ from: From<Object>, _ request: QueryRequest) {
        self.init(from, request.outputs.map { Select($0) })
        keys = request.groupBy
        condition = request.having
        isDistinct = request.isDistinct
    }

    /// Returns the query with one row for each value of the keys: `.groupBy(\.age)`.
    public func groupBy<each Property>(_ keyPath: repeat KeyPath<Object, each Property>) -> AttributesQuery {
        var copy = self
        for keyPath in repeat each keyPath { copy.add(ValueExpression(keyPath)) }
        return copy
    }

    /// Returns the query with one row for each value of an expression.
    public func groupBy<Value>(_ expression: ValueExpression<Object, Value>) -> AttributesQuery {
        var copy = self
        copy.add(expression)
        return copy
    }

    /// Returns the query with one row for each value of the keys, by their names in the text form.
    public func groupBy(named keys: String...) -> AttributesQuery { groupBy(named: keys) }

    /// Returns the query with one row for each value of the keys, by their names in the text form.
    public func groupBy(named keys: [String]) -> AttributesQuery {
        var copy = self
        for key in keys {
            do throws(QueryError) { copy.keys.append(try QueryExpression(parsing: key)) } catch {
                copy.problem = problem ?? StorageError(error)
            }
        }
        return copy
    }

    private mutating func add<Value>(_ expression: ValueExpression<Object, Value>) {
        keys.append(expression.expression)
        problem = problem ?? expression.problem
    }

    /// Returns the query restricted to groups that satisfy a condition on keys, aggregates and aliases: `.having(.count() > 3)`, or a text.
    public func having(_ condition: Where<Object>) -> AttributesQuery {
        var copy = self
        copy.condition = self.condition.map { $0 && condition.predicate } ?? condition.predicate
        copy.problem = problem ?? condition.problem
        return copy
    }

    /// Returns the query with its rows sorted by these keys, after those given before. Keys of groups can be computed from aggregates:
    /// `.orderBy(.descending(.count()))`.
    public func orderBy(_ keys: OrderBy<Object>...) -> AttributesQuery {
        var copy = self
        for key in keys { copy.from = copy.from.orderBy(key) }
        copy.problem = problem ?? copy.from.problem
        return copy
    }

    /// Returns the query for at most this number of rows.
    public func limit(_ count: Int) -> AttributesQuery {
        var copy = self
        copy.from = from.limit(count)
        return copy
    }

    /// Returns the query without this number of rows at the beginning.
    public func offset(_ count: Int) -> AttributesQuery {
        var copy = self
        copy.from = from.offset(count)
        return copy
    }

    /// Returns the query without duplicate rows.
    public func distinct() -> AttributesQuery {
        var copy = self
        copy.isDistinct = true
        return copy
    }

    /// Returns the query over the objects of another request.
    package func over(_ from: From<Object>) -> AttributesQuery {
        var copy = self
        copy.from = from
        copy.problem = problem ?? from.problem
        return copy
    }

    /// The positions of the outputs that are the object itself, whose values are primary keys.
    package var identityPositions: [Int] { outputs.indices.filter { outputs[$0].output.expression == .path(.object) } }

    /// Returns the query without its order if the result is one row, of aggregates over all objects.
    package func withoutOrderOfOneRow() -> AttributesQuery {
        var copy = self
        copy.dropsOrderOfOneRow = true
        return copy
    }

    func plan(_ model: StackModel) throws(StorageError) -> QueryPlan {
        if let problem { throw problem }
        var request = QueryRequest(
            try from.request(model), outputs: outputs.map(\.output), groupBy: keys, having: condition, isDistinct: isDistinct)
        if dropsOrderOfOneRow, request.hasOneRow(in: model.schema) { request.fetch.order = [] }
        do throws(QueryError) { return try request.plan(in: model.schema) } catch { throw StorageError(error) }
    }
}
