internal import PolystoreStorage

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
