internal import PolystoreStorage

/// An instrumentation that measures or traces the transactions, reads and requests of a stack.
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

    /// Receives the report of a request, on its thread. Requests inside of transactions and reads are reported too.
    func didAnswer(_ report: RequestReport)
}

extension StoreInstrumentation {
    /// Does nothing.
    public func didAnswer(_ report: RequestReport) {}
}
