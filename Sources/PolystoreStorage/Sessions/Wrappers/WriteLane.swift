public import PolystoreFoundation
internal import Synchronization

/// The lock for the single write transaction of a store in this process. Requests are granted in the order in which they were made.
///
/// With a plain lock, a thread that releases the lock and takes it again could starve the others.
public final class WriteLane: Sendable {
    private struct State {
        /// The number of the current holder, or nil if the lock is free.
        var holder: Int?
        var waiting: [(id: Int, semaphore: DispatchSemaphore)] = []
        /// The requests that were dismissed and do not know it yet.
        var dismissed: Set<Int> = []
        var next = 0
    }

    private let state = Mutex(State())
    /// The commits that were made while holding the lock.
    package let commits = OwnCommits()

    /// Creates a free lock.
    public init() {}

    /// Acquires the lock.
    ///
    /// - Returns: The options for further waiting, with the remaining time.
    package func enter(_ options: WriteOptions, isClosed: () -> Bool) throws(StorageError) -> WriteOptions {
        let start = ContinuousClock.now
        try enter(timeout: options.timeout, limit: options.limit, isClosed: isClosed)
        var rest = options
        rest.timeout -= start.duration(to: .now) / .seconds(1)
        return rest
    }

    /// Acquires the lock. Waits for at most `timeout` seconds, until the limit ends, or until the store is closed.
    ///
    /// - Parameter isClosed: Whether the store was closed. It must be true before `dismiss` is called.
    /// - Throws: `busy` after the timeout; `cancelled` or `timeout` if the limit ends; `storeClosed` if the store was closed.
    @inline(never)
    public func enter(
        timeout: TimeInterval, limit: WorkLimit? = nil, isClosed: () -> Bool = { false }
    ) throws(StorageError) {
        try limit?.check()
        let semaphore = DispatchSemaphore(value: 0), (id, isMine) = take(semaphore)
        if !isMine {
            // Wakes the waiting thread, which then checks whether it holds the lock.
            let interrupt = limit?.onEnd { semaphore.signal() }
            // The request is in the queue, so that a store which is closed from now on wakes it.
            let wasClosed = isClosed()
            if !wasClosed { _ = semaphore.wait(timeout: .now() + timeout) }
            if let interrupt { limit?.removeInterrupt(interrupt) }
            let (isGivenUp, isDismissed) = giveUp(id)
            if isGivenUp {
                if wasClosed || isDismissed || isClosed() { throw Self.closed }
                try limit?.check()
                throw StorageError(.busy, "another write transaction held the write lock for more than \(timeout) seconds; try again")
            }
        }
        if isClosed() {
            leave()
            throw Self.closed
        }
    }

    private static var closed: StorageError {
        StorageError(.storeClosed, "the store was closed while a write transaction waited for the write lock")
    }

    /// Ends all waiting requests with `storeClosed`, also if the store is opened again at once.
    @inline(never)
    public func dismiss() {
        state.withLock { state in
            for waiting in state.waiting {
                state.dismissed.insert(waiting.id)
                waiting.semaphore.signal()
            }
            state.waiting.removeAll()
        }
    }

    /// Acquires the lock if it is free, otherwise appends a request to the queue.
    private func take(_ semaphore: DispatchSemaphore) -> (id: Int, isMine: Bool) {
        state.withLock { state in
            state.next += 1
            let isMine = state.holder == nil
            if isMine { state.holder = state.next } else { state.waiting.append((state.next, semaphore)) }
            return (state.next, isMine)
        }
    }

    /// Withdraws a request, unless the lock was granted at the last moment. Returns also whether the request was dismissed.
    private func giveUp(_ id: Int) -> (isGivenUp: Bool, isDismissed: Bool) {
        state.withLock { state in
            state.waiting.removeAll { $0.id == id }
            return (state.holder != id, state.dismissed.remove(id) != nil)
        }
    }

    /// Releases the lock to the next request in the queue.
    @inline(never)
    public func leave() {
        state.withLock { state in
            state.holder = state.waiting.first?.id
            if !state.waiting.isEmpty { state.waiting.removeFirst().semaphore.signal() }
        }
    }
}
