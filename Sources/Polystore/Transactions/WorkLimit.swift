internal import PolystoreStorage
internal import Synchronization

/// When a transaction has to give up: its task was cancelled, or its deadline passed. Looked at between verbs; once a commit has begun it
/// is no longer asked.
final class WorkLimit: Sendable {
    private let isCancelled = Atomic(false)
    private let deadline: ContinuousClock.Instant?

    init(_ timeout: Duration? = nil) { deadline = timeout.map { .now + $0 } }

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    func check() throws(StorageError) {
        if isCancelled.load(ordering: .relaxed) || Task.isCancelled { throw StorageError(.cancelled, "the task was cancelled") }
        if let deadline, ContinuousClock.now >= deadline {
            throw StorageError(.timeout, "the transaction did not end within its time; nothing was changed")
        }
    }

    /// The options of a write transaction that must not wait longer than there is time.
    func options(isExclusive: Bool) -> WriteOptions {
        var options = WriteOptions(isExclusive: isExclusive)
        if let deadline {
            let left = ContinuousClock.now.duration(to: deadline).components
            options.timeout = min(options.timeout, max(Double(left.seconds) + Double(left.attoseconds) / 1e18, 0))
        }
        return options
    }
}
