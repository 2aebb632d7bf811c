internal import PolystoreObjects
internal import PolystoreStorage

/// The indexes that would make requests faster, and those that no request uses.
public struct IndexAdvice: Sendable, CustomStringConvertible {
    /// The time of a request with and without an index, in a copy of the store.
    public struct Trial: Sendable, Hashable {
        /// The shortest time without the index.
        public let before: Duration
        /// The shortest time with the index.
        public let after: Duration
    }

    /// A request that could use an index.
    public struct Request: Sendable, Hashable {
        /// The form of the request, without its values if it was recorded.
        public let shape: String
        /// The number of requests of this form.
        public let count: Int
        /// The total time of these requests; zero if they were not recorded.
        public let duration: Duration
        /// The measurement; nil without a copy.
        public let trial: Trial?
    }

    /// An index.
    public struct Item: Sendable, Hashable {
        /// The entity for which the index has to be declared.
        public let entity: String
        /// The properties in the order of the index.
        public let properties: [String]
        /// The requests that the index makes faster, or without a copy those that could use it.
        public let requests: [Request]

        /// The declaration, such as `Person: Index(["city", "age"])`.
        public var declaration: String {
            "\(entity): Index([\(properties.map { "\"\($0)\"" }.joined(separator: ", "))])"
        }
    }

    /// The indexes to add, by descending time of their requests.
    public internal(set) var proposals: [Item] = []
    /// The indexes that requests could use and that made none of them faster in the copy.
    public internal(set) var rejected: [Item] = []
    /// The declared indexes whose first property no request reads or compares, of entities of which objects were requested. Statements in
    /// SQL, lists and monitors, lookups by id and loads of relationships are not considered.
    public internal(set) var unused: [Item] = []
    /// The declarations of indexes that the values of a store do not allow.
    var impossible: Set<String> = []

    init() {}

    /// Creates the advice for several stores from that for each of them, without unused indexes: what one store does not use, another may.
    init(merging advice: [IndexAdvice]) {
        // All stores have the indexes of the schema.
        impossible = advice.reduce(into: []) { $0.formUnion($1.impossible) }
        proposals = Self.merged(advice.flatMap(\.proposals)).filter { !impossible.contains($0.declaration) }
        let proposed = Set(proposals.map(\.declaration))
        rejected = Self.merged(advice.flatMap(\.rejected)).filter { !proposed.contains($0.declaration) }
        sortProposals()
    }

    /// Sorts the proposals by descending time of their requests.
    mutating func sortProposals() {
        func time(_ item: Item) -> Duration {
            item.requests.reduce(.zero) { $0 + ($1.duration > .zero ? $1.duration : $1.trial?.before ?? .zero) }
        }
        proposals.sort { (time($1), $0.declaration) < (time($0), $1.declaration) }
    }

    /// Returns each index once, with the requests of all stores.
    private static func merged(_ items: [Item]) -> [Item] {
        var requests: [String: [Request]] = [:], first: [Item] = []
        for item in items {
            if requests[item.declaration] == nil { first.append(item) }
            for request in item.requests where requests[item.declaration]?.contains(request) != true {
                requests[item.declaration, default: []].append(request)
            }
            requests[item.declaration, default: []] += []
        }
        return first.map { Item(entity: $0.entity, properties: $0.properties, requests: requests[$0.declaration] ?? []) }
    }

    /// The advice, line by line.
    public var description: String {
        func lines(_ title: String, _ items: [Item]) -> [String] {
            items.isEmpty ? [] : [title] + items.flatMap { ["  \($0.declaration)"] + $0.requests.map { "    \($0)" } }
        }
        let all =
            lines("add:", proposals) + lines("tried without a gain:", rejected)
            + lines("not used by any of the requests (without SQL, lists, lookups by id and loads of relationships):", unused)
        return all.isEmpty ? "no index to add or to remove" : all.joined(separator: "\n")
    }
}

extension IndexAdvice.Request: CustomStringConvertible {
    /// The request with its numbers, on one line.
    public var description: String {
        var text = shape.excerpt(200)
        if duration > .zero { text += ": \(count) request\(count == 1 ? "" : "s") in \(duration.formattedMilliseconds) ms" }
        if let trial {
            text += "; \(trial.before.formattedMilliseconds) ms without the index, \(trial.after.formattedMilliseconds) ms with it"
        }
        return text
    }
}
