public import Polystore
internal import Tracing

/// Reports to swift-distributed-tracing: one span for each transaction, read and detached commit, under the span of the caller's task.
public struct TracingInstrumentation: StoreInstrumentation {
    /// An instrumentation.
    public init() {}

    /// Starts a span.
    public func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? {
        let span = startSpan("polystore.\(kind.rawValue)", ofKind: .client)
        span.attributes["polystore.author"] = author
        return span
    }

    /// Ends the span with what happened.
    public func didEnd(_ report: TransactionReport, _ token: (any Sendable)?) {
        guard let span = token as? any Span else { return }
        span.attributes["polystore.attempts"] = report.attempts
        span.attributes["polystore.inserted"] = report.inserted
        span.attributes["polystore.updated"] = report.updated
        span.attributes["polystore.deleted"] = report.deleted
        if !report.isSuccess { span.setStatus(SpanStatus(code: .error, message: report.failure?.description)) }
        span.end()
    }
}

/// Several instrumentations at once.
public struct CombinedInstrumentation: StoreInstrumentation {
    private let parts: [any StoreInstrumentation]

    /// All of these.
    public init(_ parts: any StoreInstrumentation...) { self.parts = parts }

    /// Tells all of them.
    public func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? {
        parts.map { $0.willBegin(kind, author: author) }
    }

    /// Tells all of them.
    public func didEnd(_ report: TransactionReport, _ token: (any Sendable)?) {
        let tokens = token as? [(any Sendable)?] ?? []
        for (index, part) in parts.enumerated() { part.didEnd(report, tokens.indices.contains(index) ? tokens[index] : nil) }
    }
}
