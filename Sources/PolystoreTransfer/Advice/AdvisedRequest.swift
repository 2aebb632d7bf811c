public import PolystoreStorage

/// A request for which indexes are looked for.
public struct AdvisedRequest: Sendable {
    /// A request that was checked against a schema.
    struct Plan {
        /// The objects that are read.
        let fetch: FetchPlan
        /// The expressions of which values are computed, beside the condition.
        let expressions: [CheckedExpression]
    }

    let shape: String
    let request: RecordedRequest
    let count: Int
    let duration: Duration

    /// Creates a request that is to be made faster.
    ///
    /// - Parameters:
    ///   - request: The request, with its values.
    ///   - shape: The form in which it is shown.
    ///   - count: The number of requests of this form.
    ///   - duration: Their total time.
    public init(_ request: ObjectRequest, shape: String, count: Int = 1, duration: Duration = .zero) {
        self.init(.objects(request), shape: shape, count: count, duration: duration)
    }

    /// Creates a request for objects or values that is to be made faster.
    package init(_ request: RecordedRequest, shape: String, count: Int = 1, duration: Duration = .zero) {
        self.shape = shape
        self.request = request
        self.count = count
        self.duration = duration
    }

    /// Returns the request checked against a schema.
    func plan(in schema: Schema) throws(QueryError) -> Plan {
        switch request {
        case .objects(let request):
            let fetch = try request.plan(in: schema)
            return Plan(fetch: fetch, expressions: fetch.sort.map(\.expression))
        case .values(let request):
            let plan = try request.plan(in: schema)
            switch plan.kind {
            case .rows(let outputs): return Plan(fetch: plan.fetch, expressions: outputs + plan.fetch.sort.map(\.expression))
            case .groups(let grouping):
                return Plan(fetch: plan.fetch, expressions: grouping.keys + grouping.aggregates.compactMap(\.argument))
            }
        }
    }
}
