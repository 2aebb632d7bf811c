public import PolystoreStorage

/// How a request is answered: by each store, and by what is left to the layer above it.
public struct Explanation: Sendable, CustomStringConvertible {
    /// A part of a request: a condition that all objects must satisfy, a key of the order, or a value of the answer.
    public struct Part: Sendable, Hashable {
        /// The part as text.
        public let text: String
        /// `.exact` where the store answers it; otherwise the rows are read, and the layer above answers it.
        public let pushdown: Pushdown
    }

    /// What was asked of a store while a request was answered.
    public struct Work: Sendable, Hashable {
        /// The number of requests: fetches, queries, look-ups of rows by their keys.
        public internal(set) var requests: Int
        /// The number of rows, and pairs of relationships, that the store handed out.
        public internal(set) var rowsRead: Int
    }

    /// How one store answers.
    public struct Store: Sendable {
        /// The kind of store.
        public let storeType: String
        /// The configuration whose entities it keeps; nil for all.
        public let configuration: String?
        /// The conditions.
        public let conditions: [Part]
        /// The order.
        public let order: [Part]
        /// The values of a query; none where objects are fetched.
        public let values: [Part]
        /// What the engine says of its plan for the part that it answers; with its own measurements where the request was analysed and the
        /// engine has some.
        public let plan: [String]
        /// What was asked of the store; nil where the request was not analysed.
        public let work: Work?

        /// All parts.
        var parts: [Part] { conditions + order + values }

        /// Whether nothing is left to the layer above.
        public var isExact: Bool { parts.allSatisfy { $0.pushdown == .exact } }
    }

    /// What an answer was, where the request was analysed.
    public struct Answer: Sendable, Hashable {
        /// The number of objects, or of rows of values.
        public let count: Int
        /// The time from the request to the last of them.
        public let duration: Duration
    }

    /// The stores that are asked.
    public let stores: [Store]
    /// What the answer was; nil where the request was not analysed.
    public let answer: Answer?

    /// Whether the stores answer everything by themselves.
    public var isExact: Bool { stores.allSatisfy(\.isExact) }

    /// The parts, plans and numbers, line by line.
    public var description: String {
        (stores.map(\.description) + (answer.map { ["\($0.count) in the answer, \($0.duration)"] } ?? [])).joined(separator: "\n")
    }
}

extension Explanation.Store: CustomStringConvertible {
    /// The parts, the plan and the numbers, line by line.
    public var description: String {
        func line(_ kind: String, _ part: Explanation.Part) -> String {
            "  \(kind) \(part.text): \(part.pushdown == .exact ? "in the store" : "above the store")"
        }
        var lines = [storeType + (configuration.map { " (\($0))" } ?? "")]
        lines += conditions.map { line("where", $0) } + order.map { line("order by", $0) } + values.map { line("select", $0) }
        lines += plan.map { "  | \($0)" }
        if let work { lines.append("  \(work.requests) requests, \(work.rowsRead) rows read") }
        return lines.joined(separator: "\n")
    }
}
