public import Polystore

/// A clause that changes settings of a request just before it runs.
public struct Tweak<Object: ManagedObject>: FetchClause {
    private let change: (TweakedRequest) -> Void

    /// Creates a change of settings.
    public init(_ change: @escaping (TweakedRequest) -> Void) { self.change = change }

    /// Returns the request with the changed settings.
    public func applied(to from: From<Object>) -> From<Object> {
        let request = TweakedRequest()
        change(request)
        var result = from
        if let isIncluded = request.includesPendingChanges { result = result.includesPendingChanges(isIncluded) }
        if !request.includesSubentities { result = result.withoutSubentities() }
        if request.fetchLimit > 0 { result = result.limit(request.fetchLimit) }
        if request.fetchOffset > 0 { result = result.offset(request.fetchOffset) }
        if request.fetchBatchSize > 0 { result = result.batchSize(request.fetchBatchSize) }
        if let names = request.propertiesToFetch { result = result.properties(named: names) }
        return result
    }
}
