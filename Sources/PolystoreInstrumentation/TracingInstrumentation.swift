public import Polystore
internal import Tracing

/// An instrumentation that reports to swift-distributed-tracing: one span for each transaction, read and detached commit, as a child of the
/// span of the caller's task.
public struct TracingInstrumentation: StoreInstrumentation {
    /// Creates an instrumentation.
    public init() {}

    /// Starts a span.
    public func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? {
        let span = startSpan("polystore.\(kind.rawValue)", ofKind: .client)
        span.attributes["polystore.author"] = author
        return span
    }

    /// Adds the result to the span and ends it.
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
