/// A request that was recorded with its values.
package enum RecordedRequest: Sendable, Hashable {
    /// A request for objects.
    case objects(ObjectRequest)
    /// A request for values.
    case values(QueryRequest)

    /// The objects that the request reads.
    package var fetch: ObjectRequest {
        switch self {
        case .objects(let request): request
        case .values(let request): request.fetch
        }
    }
}
