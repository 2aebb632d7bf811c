internal import Metrics
public import Polystore

/// Reports to swift-metrics: `polystore_transactions_total` and `polystore_transaction_seconds` by kind and outcome,
/// `polystore_conflicts_total`, and `polystore_objects_total` by what happened to them.
public struct MetricsInstrumentation: StoreInstrumentation {
    private let prefix: String

    /// An instrumentation whose metrics begin with a name.
    public init(prefix: String = "polystore") { self.prefix = prefix }

    /// Nothing: everything is known at the end.
    public func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)? { nil }

    /// Counts and times.
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
}
