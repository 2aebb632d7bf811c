internal import PolystoreStorage

/// An instrumentation that measures or traces the work of a stack, for metrics, spans and slow logs.
///
/// `PolystoreInstrumentation` contains one for swift-metrics and one for swift-distributed-tracing. Without an instrumentation nothing is
/// measured, at no cost.
public protocol StoreInstrumentation: Sendable {
    /// Begins a measurement. Called in the caller's task before the work is passed to a thread.
    ///
    /// - Returns: A value that is passed to `didEnd`, such as a span.
    func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)?

    /// Ends a measurement. Called when the work has ended, on the same thread.
    func didEnd(_ report: TransactionReport, _ token: (any Sendable)?)
}
