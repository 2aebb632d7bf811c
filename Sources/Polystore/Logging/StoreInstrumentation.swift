public import PolystoreStorage

/// What a stack tells of one transaction or read when it has ended.
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

    /// What it was.
    public let kind: Kind
    /// The author that the history names.
    public let author: String
    /// The time from the call to the end.
    public let duration: Duration
    /// How often the closure was started; more than 1 after conflicts.
    public let attempts: Int
    /// The number of objects made.
    public let inserted: Int
    /// The number of objects changed.
    public let updated: Int
    /// The number of objects deleted.
    public let deleted: Int
    /// Why it failed; nil when it did not. Errors of the program's own have no code.
    public let failure: StorageError.Code?
    /// Whether it came to its end.
    public let isSuccess: Bool
}

/// Measures or traces what a stack does: for metrics, spans, slow logs.
///
/// `PolystoreInstrumentation` has one for swift-metrics and one for swift-distributed-tracing. Without an instrumentation nothing is
/// measured and nothing is paid.
public protocol StoreInstrumentation: Sendable {
    /// Called in the caller's task before the work is handed to a thread.
    ///
    /// - Returns: Whatever is to be handed to `didEnd`, such as a span.
    func willBegin(_ kind: TransactionReport.Kind, author: String) -> (any Sendable)?

    /// Called when the work has ended, on the thread on which it did.
    func didEnd(_ report: TransactionReport, _ token: (any Sendable)?)
}

/// One piece of work that is measured.
final class Measured: Sendable {
    private let instrumentation: any StoreInstrumentation
    private let token: (any Sendable)?
    private let kind: TransactionReport.Kind
    private let author: String
    private let start = ContinuousClock.now

    /// Nil where nobody measures.
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
