public import PolystoreStorage

/// The plan of a request: the work of each store, and the work of the layer above the stores.
public struct Explanation: Sendable, CustomStringConvertible {
    /// A part of a request: a condition that all objects must satisfy, a sort key, or an output value.
    public struct Part: Sendable, Hashable {
        /// The part as text.
        public let text: String
        /// `.exact` if the store evaluates the part. Otherwise the rows are read, and the layer above evaluates it.
        public let pushdown: Pushdown
    }

    /// The operations of a store while a request was executed.
    public struct Work: Sendable, Hashable {
        /// The number of operations: fetches, queries, and lookups of rows by key.
        public let requests: Int
        /// The number of rows and relationship pairs that the store returned.
        public let rowsRead: Int
    }

    /// The plan of one store.
    public struct Store: Sendable {
        /// The kind of store.
        public let storeType: String
        /// The configuration of the store's entities; nil for all entities.
        public let configuration: String?
        /// The conditions.
        public let conditions: [Part]
        /// The sort keys.
        public let order: [Part]
        /// The output values of a query; empty for a fetch of objects.
        public let values: [Part]
        /// The engine's description of its plan for the part that it evaluates; with the engine's own measurements, if any, when the
        /// request was analyzed.
        public let plan: [String]
        /// The operations of the store; nil if the request was not analyzed.
        public let work: Work?

        /// All parts.
        var parts: [Part] { conditions + order + values }

        /// Whether the store evaluates all parts.
        public var isExact: Bool { parts.allSatisfy { $0.pushdown == .exact } }
    }

    /// The result of an analyzed request.
    public struct Answer: Sendable, Hashable {
        /// The number of objects or rows.
        public let count: Int
        /// The time from the request to the last of them.
        public let duration: Duration
    }

    /// The stores of the request.
    public let stores: [Store]
    /// The result; nil if the request was not analyzed.
    public let answer: Answer?

    /// Whether the stores evaluate the whole request.
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
