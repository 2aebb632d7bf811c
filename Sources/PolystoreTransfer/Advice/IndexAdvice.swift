internal import PolystoreObjects

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
    /// The declared indexes that no request could use, of entities of which objects were requested.
    public internal(set) var unused: [Item] = []

    /// The advice, line by line.
    public var description: String {
        func lines(_ title: String, _ items: [Item]) -> [String] {
            items.isEmpty ? [] : [title] + items.flatMap { ["  \($0.declaration)"] + $0.requests.map { "    \($0)" } }
        }
        let all =
            lines("add:", proposals) + lines("tried without a gain:", rejected) + lines("not used by any of the requests:", unused)
        return all.isEmpty ? "no index to add or to remove" : all.joined(separator: "\n")
    }
}

extension IndexAdvice.Request: CustomStringConvertible {
    /// The request with its numbers, on one line.
    public var description: String {
        var text = shape
        if duration > .zero { text += ": \(count) request\(count == 1 ? "" : "s") in \(duration.formattedMilliseconds) ms" }
        if let trial {
            text += "; \(trial.before.formattedMilliseconds) ms without the index, \(trial.after.formattedMilliseconds) ms with it"
        }
        return text
    }
}
