internal import PolystoreFoundation
package import PolystoreStorage
internal import Synchronization

/// A queue of work that begins in the order of its submission, with a limited number of concurrent items.
///
/// Waiting work does not occupy a thread. When its limit expires, the work leaves the queue immediately and is called with the error.
package final class WorkQueue: Sendable {
    /// A unit of work, called exactly once: on a thread of the stack when its turn comes, or on another thread with the reason why it is
    /// refused.
    package typealias Work = @Sendable (_ refusal: StorageError?, _ turn: WorkTurn?) -> Void

    private struct Job: Sendable {
        let limit: WorkLimit
        let isSerial: Bool
        let work: Work
    }

    private struct State {
        var width: Int
        var waiting = NumberedQueue<Job>()
        var running = 0
        /// The number of items that have left their turn and not ended.
        var leaving = 0
        var isSerialRunning = false
        /// The number of serial items that are waiting or running.
        var serial = 0
        var done = 0

        private func mayBegin(_ job: Job) -> Bool { running < width && !(job.isSerial && isSerialRunning) }

        /// Begins a job if its turn has come.
        mutating func begin(_ job: Job) -> Bool {
            guard waiting.isEmpty, mayBegin(job) else { return false }
            count(job)
            return true
        }

        /// Adds a job. Returns its number if it has to wait.
        mutating func add(_ job: Job) -> Int? {
            if job.isSerial { serial += 1 }
            return begin(job) ? nil : waiting.append(job)
        }

        /// Removes a waiting job; nil if it has begun.
        mutating func remove(_ number: Int) -> Job? {
            let job = waiting.remove(number)
            if job?.isSerial == true { serial -= 1 }
            return job
        }

        /// Begins the jobs whose turn has come and returns them.
        mutating func begin() -> [Job] {
            var begun: [Job] = []
            // A condition closure would retain the state, and each removal would copy all waiting jobs.
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

        /// Lets the next item begin. Returns whether the turn was left.
        mutating func leave() -> Bool {
            if leaving == WorkQueue.mostLeaving { return false }
            running -= 1
            leaving += 1
            return true
        }

        mutating func end(_ job: Job, hasLeft: Bool) {
            if hasLeft { leaving -= 1 } else { running -= 1 }
            done += 1
            if job.isSerial {
                isSerialRunning = false
                serial -= 1
            }
        }
    }

    /// The queue on which work is called after its limit has expired: not on the thread that ended the limit, which may hold locks, and not
    /// after other work.
    private static let refusing = DispatchQueue(label: "polystore.refusing")

    /// The maximum number of items that have left their turn and not ended. Each occupies a thread. Beyond it the others wait, so that a slow
    /// disk slows down whoever submits work.
    private static let mostLeaving = 64

    private let threads: WorkerThreads
    private let state: Mutex<State>
    private let patience: Double

    /// Creates a queue with a number of concurrent items.
    ///
    /// - Parameter patience: The time in seconds for which work waits for the end of the transaction in whose closure it was submitted.
    package init(_ threads: WorkerThreads, width: Int, patience: Double = 30) {
        self.threads = threads
        self.patience = patience
        state = Mutex(State(width: width))
    }

    /// The number of items that may run concurrently.
    package var width: Int { state.withLock { $0.width } }

    /// Sets the number of items that may run concurrently. A lower number does not end running items.
    ///
    /// - Parameter width: A closure that determines the number under the lock of the queue, so that the newest of several concurrent
    ///   results is kept.
    package func setWidth(_ width: () -> Int) {
        start(
            state.withLock { state in
                state.width = width()
                return state.begin()
            })
    }

    /// The number of waiting items.
    package var waitingCount: Int { state.withLock { $0.waiting.count } }
    /// The number of running items, including those that have left their turn.
    package var runningCount: Int { state.withLock { $0.running + $0.leaving } }
    /// The number of items that have begun and ended.
    package var doneCount: Int { state.withLock { $0.done } }

    /// Adds work. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Parameters:
    ///   - limit: The limit after which the work leaves the queue if it has not begun.
    ///   - isSerial: Whether the work waits for other serial work, regardless of the width of the queue.
    ///   - outer: The transaction in whose closure another thread submitted the work. If the closure runs for long, it may be waiting for
    ///     this work, which then leaves the queue.
    @inline(never) package func submit(
        _ limit: WorkLimit, isSerial: Bool = false, inside outer: RunningTransaction? = nil, _ work: @escaping Work
    ) {
        let job = Job(limit: limit, isSerial: isSerial, work: work)
        let number = state.withLock { $0.add(job) }
        guard let number else { return start([job]) }
        // Not under the limit's own lock, because the handler may call the limit.
        _ = limit.onEnd { [weak self] in
            guard let self else { return }
            Self.refusing.async { self.withdraw(number) }
        }
        guard let outer else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [weak self, weak outer] in
            if outer?.isRunning == true { self?.withdraw(number, RunningTransaction.reentrantCall) }
        }
    }

    /// Begins jobs, and the jobs whose turn comes if the system cannot provide a thread for one of them.
    private func start(_ jobs: [Job]) {
        var jobs = jobs, position = 0
        while position < jobs.count {
            let job = jobs[position]
            position += 1
            do throws(StorageError) {
                try threads.run { self.run(job) }
            } catch {
                jobs += end(job, hasLeft: false)
                job.work(error, nil)
            }
        }
    }

    /// Runs a job, and then the jobs whose turn comes when it ends.
    private func run(_ job: Job) {
        var job = job
        while true {
            let turn = WorkTurn(self)
            job.work(nil, turn)
            let next = end(job, hasLeft: turn.hasLeft)
            start(Array(next.dropFirst()))
            guard let first = next.first else { return }
            job = first
        }
    }

    private func end(_ job: Job, hasLeft: Bool) -> [Job] {
        state.withLock { state in
            state.end(job, hasLeft: hasLeft)
            return state.begin()
        }
    }

    /// Begins the jobs whose turn comes when a running one leaves its own. Returns whether it may leave.
    func leave() -> Bool {
        let (hasLeft, begun) = state.withLock { state in
            let hasLeft = state.leave()
            return (hasLeft, hasLeft ? state.begin() : [])
        }
        start(begun)
        return hasLeft
    }

    /// Removes work that has not begun, with a given reason or else because its limit has expired.
    private func withdraw(_ number: Int, _ reason: StorageError? = nil) {
        let (job, begun) = state.withLock { state in (state.remove(number), state.begin()) }
        start(begun)
        if let job { Self.refusing.async { job.work(reason ?? job.limit.reason, nil) } }
    }
}

extension WorkLimit {
    /// The reason why the work must end.
    fileprivate var reason: StorageError {
        do throws(StorageError) { try check() } catch { return error }
        return StorageError(.cancelled, "the work was cancelled before it started")
    }
}

extension WorkQueue {
    /// Runs `body` as work of the queue. The cancellation of the task ends the limit.
    ///
    /// - Parameter body: A closure that is called once, with the reason if it is refused.
    package func run<R: Sendable>(
        _ limit: WorkLimit, inside outer: RunningTransaction? = nil,
        _ body: @escaping @Sendable (_ refusal: StorageError?, _ turn: WorkTurn?) throws -> R
    ) async throws -> R {
        let work = OneTimeWork(body)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(limit, inside: outer) { refusal, turn in work.run(refusal, turn).map { continuation.resume(with: $0) } }
            }
        } onCancel: {
            limit.cancel()
        }
    }

    /// Returns the result of `body` as work of the queue, or the reason why it was refused.
    package func result<R: Sendable>(
        _ limit: WorkLimit = WorkLimit(), of body: @escaping @Sendable () throws(StorageError) -> R
    ) async -> Result<R, StorageError> {
        let work = OneTimeWork { (refusal, _) throws(StorageError) -> R in
            if let refusal { throw refusal }
            return try body()
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(limit) { refusal, turn in work.run(refusal, turn).map { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            limit.cancel()
        }
    }
}

extension WorkQueue {
    /// Waits on the calling thread until the serial work that was submitted before has ended.
    ///
    /// - Returns: The reason why the wait ended earlier: the limit, or that the work itself waits for the caller.
    package func waitForSerialWork(_ limit: WorkLimit, inside outer: RunningTransaction?) -> StorageError? {
        if state.withLock({ $0.serial == 0 }) { return nil }
        let turn = Turn()
        submit(limit, isSerial: true, inside: outer) { refusal, _ in turn.come(refusal) }
        return turn.wait()
    }

    /// The turn of a thread that waits.
    private final class Turn: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        private let refusal = Mutex<StorageError?>(nil)

        func come(_ refusal: StorageError?) {
            self.refusal.withLock { $0 = refusal }
            semaphore.signal()
        }

        func wait() -> StorageError? {
            semaphore.wait()
            return refusal.withLock { $0 }
        }
    }
}

/// Work that is run once. It is released, with everything that it retains, before its result is returned, so that the receiver can rely on
/// the release.
private final class OneTimeWork<R: Sendable, Failure: Error>: Sendable {
    private let body: Mutex<(@Sendable (StorageError?, WorkTurn?) throws(Failure) -> R)?>

    init(_ body: @escaping @Sendable (StorageError?, WorkTurn?) throws(Failure) -> R) { self.body = Mutex(body) }

    /// Runs the work and returns its result, or nil if it was run before.
    @inline(never) func run(_ refusal: StorageError?, _ turn: WorkTurn?) -> Result<R, Failure>? {
        guard let body = body.withLock({ $0.take() }) else { return nil }
        return Result { () throws(Failure) in try body(refusal, turn) }
    }
}
