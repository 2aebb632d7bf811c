public import PolystoreStorage

/// The report of a stack about a completed transaction or read.
public struct TransactionReport: Sendable {
    /// The kinds of work.
    public enum Kind: String, Sendable {
        /// A closure of `perform`.
        case write
        /// A closure of `read`.
        case read
        /// A commit of a detached transaction.
        case commit
    }

    /// The kind of work.
    public let kind: Kind
    /// The author that is recorded in the history.
    public let author: String
    /// The time from the call to the end.
    public let duration: Duration
    /// The number of times the closure was started. It exceeds 1 after conflicts.
    public let attempts: Int
    /// The number of created objects.
    public let inserted: Int
    /// The number of changed objects.
    public let updated: Int
    /// The number of deleted objects.
    public let deleted: Int
    /// The code of the failure; nil without a failure. The program's own errors have no code.
    public let failure: StorageError.Code?
    /// Whether the work succeeded.
    public let isSuccess: Bool
}

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

/// One measured unit of work.
final class Measured: Sendable {
    private let instrumentation: any StoreInstrumentation
    private let token: (any Sendable)?
    private let kind: TransactionReport.Kind
    private let author: String
    private let start = ContinuousClock.now

    /// Begins a measurement; nil without an instrumentation.
    init?(_ core: StackCore, _ kind: TransactionReport.Kind, _ author: String) {
        guard let instrumentation = core.instrumentation else { return nil }
        self.instrumentation = instrumentation
        self.kind = kind
        self.author = author
        token = instrumentation.willBegin(kind, author: author)
    }

    /// The numbers of objects that a transaction changed.
    struct Counts: Sendable {
        var attempts = 1
        var inserted = 0
        var updated = 0
        var deleted = 0
    }

    func end(_ counts: Counts, _ error: (any Error)?) {
        instrumentation.didEnd(
            TransactionReport(
                kind: kind, author: author, duration: start.duration(to: .now), attempts: counts.attempts, inserted: counts.inserted,
                updated: counts.updated, deleted: counts.deleted, failure: (error as? StorageError)?.code, isSuccess: error == nil), token)
    }
}
