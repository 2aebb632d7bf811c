public import Polystore

/// A clause that changes settings of a request just before it runs.
public struct Tweak<Object: ManagedObject>: FetchClause {
    private let change: (TweakedRequest) -> Void

    /// Creates a change of settings.
    public init(_ change: @escaping (TweakedRequest) -> Void) { self.change = change }

    /// Returns the request with the changed settings.
    public func applied(to from: From<Object>) -> From<Object> {
        let request = TweakedRequest(from)
        change(request)
        var result = from
        result.predicate = request.predicate
        result.sort = request.sortDescriptors ?? []
        result.includesPendingChanges = request.includesPendingChanges
        result.includesSubentities = request.includesSubentities
        result.limit = request.fetchLimit > 0 ? request.fetchLimit : nil
        result.offset = request.fetchOffset
        result.properties = request.propertiesToFetch.map { $0.map { PropertyPath($0) } }
        return request.fetchBatchSize > 0 ? result.batchSize(request.fetchBatchSize) : result
    }
}
