internal import PolystoreSchema

extension RecordedRequest {
    /// The maximum number of values of a list that is kept, and the maximum size of a request in bytes, roughly.
    private static let longestList = 100, maximumSize = 1 << 16

    /// Returns the request with lists of at most 100 values; nil if it is large nevertheless.
    package var bounded: RecordedRequest? {
        switch self {
        case .objects(let request):
            guard let fetch = Self.bounded(request) else { return nil }
            return .objects(fetch)
        case .values(var request):
            guard let fetch = Self.bounded(request.fetch) else { return nil }
            request.fetch = fetch
            do throws(QueryError) { request.having = try request.having.map(Self.shortened) } catch { return nil }
            var size = Self.size { isEnough in request.having?.contains(where: isEnough) ?? false }
            for part in request.outputs.map(\.expression) + request.groupBy { size += Self.size(part.contains) }
            return size <= Self.maximumSize ? .values(request) : nil
        }
    }

    private static func bounded(_ request: ObjectRequest) -> ObjectRequest? {
        var request = request
        do throws(QueryError) { request.predicate = try request.predicate.map(shortened) } catch { return nil }
        var size = size { isEnough in request.predicate?.contains(where: isEnough) ?? false }
        for term in request.order { size += self.size(term.expression.contains) }
        return size <= maximumSize ? request : nil
    }

    private static func shortened(_ predicate: QueryPredicate) throws(QueryError) -> QueryPredicate {
        var shortening = Shortening(most: longestList)
        return try shortening.rewritten(predicate, 0)
    }

    /// Returns the size of a condition or expression, or a greater one than the maximum size.
    private static func size(_ search: ((QueryNode, Int) -> Bool) -> Bool) -> Int {
        var size = 0
        _ = search { node, _ in
            size += node.size
            return size > maximumSize
        }
        return size
    }
}

extension QueryNode {
    /// The size of the node in bytes, roughly, without its parts.
    fileprivate var size: Int {
        let least = 64
        switch self {
        case .predicate(let predicate):
            return switch predicate.node {
            case .isIn(_, let values): values.reduce(least) { $0 + ($1.byteCount ?? 16) }
            case .text(_, _, let needle): least + needle.utf8.count
            default: least
            }
        case .expression(let expression):
            if case .value(let value) = expression.node { return least + (value.byteCount ?? 16) }
            return least
        }
    }
}

/// Shortens lists of values.
private struct Shortening: QueryRewriter {
    let most: Int

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        guard case .isIn(let expression, let values) = predicate.node, values.count > most else { return try rebuilt(predicate, depth) }
        return .isIn(try rewritten(expression, depth), Array(values.prefix(most)))
    }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        try rebuilt(expression, depth)
    }
}
