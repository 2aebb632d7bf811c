internal import Foundation
package import PolystoreStorage
internal import Synchronization

/// Work of a stack that begins in the order in which it was submitted, so many pieces at a time.
///
/// Work that waits takes no thread. When its limit ends it leaves the queue, and is told so, at once.
package final class WorkQueue: Sendable {
    /// Work, called once: on a thread of the stack when its turn has come, or on another one with the reason why it cannot be done.
    package typealias Work = @Sendable (_ refusal: StorageError?) -> Void

    private struct Job: Sendable {
        let limit: WorkLimit
        let isSerial: Bool
        let work: Work
    }

    private struct State {
        var width: Int
        var waiting = NumberedQueue<Job>()
        var running = 0
        var isSerialRunning = false
        var done = 0

        private func mayBegin(_ job: Job) -> Bool { running < width && !(job.isSerial && isSerialRunning) }

        /// Begins a job, if its turn has come.
        mutating func begin(_ job: Job) -> Bool {
            guard waiting.isEmpty, mayBegin(job) else { return false }
            count(job)
            return true
        }

        /// The jobs whose turn has come.
        mutating func begin() -> [Job] {
            var begun: [Job] = []
            // A closure that asks would hold the state, and each removal would copy all that wait.
            while let job = waiting.peek(), mayBegin(job) {
                _ = waiting.popFirst()
                count(job)
                begun.append(job)
            }
            return begun
        }

        private mutating func count(_ job: Job) {
            running += 1
            if job.isSerial { isSerialRunning = true }
        }

        mutating func end(_ job: Job) {
            running -= 1
            done += 1
            if job.isSerial { isSerialRunning = false }
        }
    }

    /// Where work is told that its limit has ended: neither on the thread that ended it, which may hold locks, nor after other work.
    private static let refusing = DispatchQueue(label: "polystore.refusing")

    private let threads: WorkerThreads
    private let state: Mutex<State>
    private let patience: Double

    /// A queue of so many pieces of work at a time.
    ///
    /// - Parameter patience: The seconds that work waits for the end of the transaction in whose closure it was submitted.
    package init(_ threads: WorkerThreads, width: Int, patience: Double = 30) {
        self.threads = threads
        self.patience = patience
        state = Mutex(State(width: width))
    }

    /// The number of pieces of work that may go on at a time.
    package var width: Int { state.withLock { $0.width } }

    /// Sets the number of pieces of work that may go on at a time; what goes on already is not ended by a lower one.
    ///
    /// - Parameter width: Counts, under the lock of the queue: of several counts at once the one that stays is the newest.
    package func setWidth(_ width: () -> Int) {
        start(
            state.withLock { state in
                state.width = width()
                return state.begin()
            })
    }

    /// The number of pieces of work that wait.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// The number of pieces of work that go on.
    package var runningCount: Int { state.withLock { $0.running } }
    /// The number of pieces of work that have ended after they had begun.
    package var doneCount: Int { state.withLock { $0.done } }

    /// Adds work. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Parameters:
    ///   - limit: When the work leaves the queue, if it has not begun.
    ///   - isSerial: Whether the work waits for other serial work, however wide the queue is.
    ///   - outer: The transaction in whose closure it was submitted, by another thread. If that goes on for long it may well be waiting for
    ///     this work, which leaves the queue then.
    @inline(never) package func submit(
        _ limit: WorkLimit, isSerial: Bool = false, inside outer: RunningTransaction? = nil, _ work: @escaping Work
    ) {
        let job = Job(limit: limit, isSerial: isSerial, work: work)
        let number = state.withLock { $0.begin(job) ? nil : $0.waiting.append(job) }
        guard let number else { return start([job]) }
        // Not under the limit's own lock: what is told may ask the limit.
        _ = limit.onEnd { [weak self] in
            guard let self else { return }
            Self.refusing.async { self.withdraw(number) }
        }
        guard let outer else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [weak self, weak outer] in
            if outer?.isRunning == true { self?.withdraw(number, RunningTransaction.reentrantCall) }
        }
    }

    /// Begins jobs, and those whose turn comes where the system gives no thread for one.
    private func start(_ jobs: [Job]) {
        var jobs = jobs, position = 0
        while position < jobs.count {
            let job = jobs[position]
            position += 1
            do throws(StorageError) {
                try threads.run { self.run(job) }
            } catch {
                jobs += end(job)
                job.work(error)
            }
        }
    }

    /// Runs a job, and then those whose turn comes by its end.
    private func run(_ job: Job) {
        var job = job
        while true {
            job.work(nil)
            let next = end(job)
            start(Array(next.dropFirst()))
            guard let first = next.first else { return }
            job = first
        }
    }

    private func end(_ job: Job) -> [Job] {
        state.withLock { state in
            state.end(job)
            return state.begin()
        }
    }

    /// Takes work out that has not begun; where there is no other reason, because its limit has ended.
    private func withdraw(_ number: Int, _ reason: StorageError? = nil) {
        let (job, begun) = state.withLock { state in (state.waiting.remove(number), state.begin()) }
        start(begun)
        if let job { Self.refusing.async { job.work(reason ?? job.limit.reason) } }
    }
}

extension WorkLimit {
    /// Why the work has to end.
    fileprivate var reason: StorageError {
        do throws(StorageError) { try check() } catch { return error }
        return StorageError(.cancelled, "the work was given up")
    }
}

extension WorkQueue {
    /// Runs `body` as work of the queue; when the task is cancelled, its limit ends.
    ///
    /// - Parameter body: Called once, with the reason where it cannot be done.
    package func run<R: Sendable>(
        _ limit: WorkLimit, inside outer: RunningTransaction? = nil, _ body: @escaping @Sendable (_ refusal: StorageError?) throws -> R
    ) async throws -> R {
        let work = OneTimeWork(body)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(limit, inside: outer) { refusal in work.run(refusal).map { continuation.resume(with: $0) } }
            }
        } onCancel: {
            limit.cancel()
        }
    }

    /// What `body` gives or throws as work of the queue, or why it could not be done.
    package func result<R: Sendable>(
        _ limit: WorkLimit = WorkLimit(), of body: @escaping @Sendable () throws(StorageError) -> R
    ) async -> Result<R, StorageError> {
        let work = OneTimeWork { (refusal) throws(StorageError) -> R in
            if let refusal { throw refusal }
            return try body()
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(limit) { refusal in work.run(refusal).map { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            limit.cancel()
        }
    }
}

/// Work that is run once and let go of with all that it holds before its result is handed on: whoever gets that may count on it.
private final class OneTimeWork<R: Sendable, Failure: Error>: Sendable {
    private let body: Mutex<(@Sendable (StorageError?) throws(Failure) -> R)?>

    init(_ body: @escaping @Sendable (StorageError?) throws(Failure) -> R) { self.body = Mutex(body) }

    /// What the work gives or throws; nil where it was run before.
    @inline(never) func run(_ refusal: StorageError?) -> Result<R, Failure>? {
        guard let body = body.withLock({ $0.take() }) else { return nil }
        return Result { () throws(Failure) in try body(refusal) }
    }
}
