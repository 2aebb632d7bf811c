internal import Metrics
public import Polystore

/// An instrumentation that reports to swift-metrics: `polystore_transactions_total` and `polystore_transaction_seconds` by kind and
/// outcome, `polystore_conflicts_total`, `polystore_objects_total` by the kind of change, and `polystore_request_seconds` by kind, entity and
/// outcome.
public struct MetricsInstrumentation: StoreInstrumentation {
    private let prefix: String

    /// Creates an instrumentation with a prefix for the names of its metrics.
    public init(prefix: String = "polystore") { self.prefix = prefix }

    /// Records the gauges `polystore_running`, `polystore_waiting` and `polystore_capacity` of each queue of a stack. The program calls it
    /// as often as its metrics are collected.
    public func recordQueues(of stack: DataStack) {
        for queue in stack.queueStatistics {
            for (label, count) in [("running", queue.running), ("waiting", queue.waiting), ("capacity", queue.capacity)] {
                Gauge(label: "\(prefix)_\(label)", dimensions: [("queue", queue.kind.rawValue)]).record(count)
            }
        }
    }

    /// Does nothing. All metrics are reported at the end.
    public func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? { nil }

    /// Reports the counts and the duration.
    public func didEnd(_ report: TransactionReport, _ token: (any Sendable)?) {
        let outcome = report.isSuccess ? "committed" : (report.failure?.description ?? "thrown")
        let dimensions = [("kind", report.kind.rawValue), ("outcome", outcome)]
        Counter(label: "\(prefix)_transactions_total", dimensions: dimensions).increment()
        Timer(label: "\(prefix)_transaction_seconds", dimensions: dimensions).record(duration: report.duration)
        if report.attempts > 1 { Counter(label: "\(prefix)_conflicts_total").increment(by: report.attempts - 1) }
        for (what, count) in [("inserted", report.inserted), ("updated", report.updated), ("deleted", report.deleted)] where count > 0 {
            Counter(label: "\(prefix)_objects_total", dimensions: [("change", what)]).increment(by: count)
        }
    }

    /// Reports the duration of a request.
    public func didAnswer(_ report: RequestReport) {
        let outcome = report.failure?.description ?? "answered"
        let dimensions = [("kind", report.kind.rawValue), ("entity", report.entity ?? ""), ("outcome", outcome)]
        Timer(label: "\(prefix)_request_seconds", dimensions: dimensions).record(duration: report.duration)
    }
}
