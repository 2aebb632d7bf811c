public import PolystoreFoundation
internal import Synchronization

/// The deadline and the cancellation of an operation, shared by all layers that carry it out, down to the engine.
///
/// Layers call `check` between steps. An engine that can be interrupted in the middle of a step registers an interrupt with `onEnd`.
public final class WorkLimit: Sendable {
    fileprivate struct State {
        var interrupts: [Int: @Sendable () -> Void] = [:]
        var next = 0
        var timer: (any DispatchSourceTimer)?
        /// The error of the cancelled operation; nil for `cancelled`.
        var reason: StorageError?
    }

    /// The time by which the operation must have ended, or nil without a limit.
    public let deadline: ContinuousClock.Instant?
    /// Stored separately from the deadline, whose type is opaque: testing the deadline itself requires calls through its metadata.
    private let hasDeadline: Bool

    private let state = Mutex(State())
    /// Bits that say whether the operation was cancelled and whether the limit was lifted.
    ///
    /// Stored outside the mutex: every step of an operation reads them, and a lock would take a third of the time of a primary key lookup
    /// in a memory-mapped file.
    private let flags = Atomic(0)
    private static let cancelled = 1, lifted = 2

    private let changesNothing: Bool

    /// Creates a limit that ends after `timeout`, or only by cancellation.
    public convenience init(timeout: Duration? = nil) { self.init(timeout: timeout, changesNothing: false) }

    /// Creates the limit of work that reads.
    package convenience init(reading timeout: Duration?) { self.init(timeout: timeout, changesNothing: true) }

    private init(timeout: Duration?, changesNothing: Bool) {
        self.changesNothing = changesNothing
        deadline = timeout.map { .now + $0 }
        hasDeadline = timeout != nil
    }

    deinit { state.withLock { $0.timer?.cancel() } }

    /// Whether the operation was cancelled or its deadline has passed.
    public var hasEnded: Bool {
        if isLifted { return false }
        return flags.load(ordering: .acquiring) & Self.cancelled != 0 || deadline.map { ContinuousClock.now >= $0 } ?? false
    }

    private var isLifted: Bool { flags.load(ordering: .acquiring) & Self.lifted != 0 }

    /// The number of seconds until the deadline, at least 0. Infinity without a deadline.
    public var secondsLeft: TimeInterval {
        guard let deadline else { return .infinity }
        let left = ContinuousClock.now.duration(to: deadline).components
        return max(Double(left.seconds) + Double(left.attoseconds) / 1e18, 0)
    }

    /// Returns the deadline as a time of the dispatch clock, or the end of a period if that is earlier.
    ///
    /// Never before the deadline: the time that is left is read before the clock, because a thread may be interrupted between the two, and
    /// what ends at the deadline must find that it has passed.
    package func dispatchTime(atMost period: TimeInterval = .infinity) -> DispatchTime {
        let seconds = min(secondsLeft, period)
        return .now() + seconds
    }

    /// Cancels the operation. The closures registered with `onEnd` are called before this method returns.
    public func cancel() { cancel(nil) }

    /// Cancels the operation, which then ends with an error. The closures registered with `onEnd` are called before this method returns.
    ///
    /// - Parameter reason: The error; nil for `cancelled`. A later one has no effect.
    @inline(never) package func cancel(_ reason: StorageError?) {
        state.withLock { state in
            if flags.load(ordering: .relaxed) & Self.cancelled == 0 { state.reason = reason }
            // Under the lock, so that a registered closure is either called here or its registration sees the flag.
            let flags = flags.bitwiseOr(Self.cancelled, ordering: .acquiringAndReleasing).newValue
            if flags & Self.lifted == 0 { state.interrupt() }
        }
    }

    /// Lifts the limit, because the operation can no longer be undone: from now on neither a cancellation nor the deadline ends it, also
    /// one that came before.
    @inline(never) package func lift() {
        state.withLock { state in
            state.interrupts.removeAll()
            flags.bitwiseOr(Self.lifted, ordering: .releasing)
        }
    }

    /// Checks whether the operation may continue.
    ///
    /// - Throws: `cancelled`, also if the calling task was cancelled, or the error with which the operation was cancelled; `timeout` after
    ///   the deadline.
    @inline(never) public func check() throws(StorageError) {
        let flags = flags.load(ordering: .acquiring)
        if flags & Self.lifted != 0 { return }
        if flags & Self.cancelled != 0 || Task.isCancelled {
            throw state.withLock { $0.reason } ?? StorageError(.cancelled, "the task was cancelled")
        }
        if hasDeadline, let deadline, ContinuousClock.now >= deadline {
            let work =
                changesNothing
                ? "the read did not end before its timeout" : "the transaction did not end before its timeout; nothing was changed"
            throw StorageError(.timeout, work)
        }
    }

    /// Calls a closure once when the operation is cancelled or its deadline passes, on the thread that detects it. If that has already
    /// happened, calls it immediately.
    ///
    /// The closure must be short and must not call the limit. It is never called after `removeInterrupt` has returned.
    /// - Returns: The number with which `removeInterrupt` removes the closure.
    @inline(never) public func onEnd(_ interrupt: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.interrupts[state.next] = interrupt
            // The timer fires once, so a closure registered after that must not wait for it.
            if hasEnded {
                state.interrupt()
            } else if let deadline, state.timer == nil {
                state.timer = timer(at: deadline)
            }
            return state.next
        }
    }

    /// Removes a closure that was registered with `onEnd`. Waits if the closure is running.
    @inline(never) public func removeInterrupt(_ number: Int) { state.withLock { _ = $0.interrupts.removeValue(forKey: number) } }

    private func timer(at deadline: ContinuousClock.Instant) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { [weak self] in
            guard let self else { return }
            state.withLock { if !isLifted { $0.interrupt() } }
        }
        timer.schedule(deadline: dispatchTime())
        timer.activate()
        return timer
    }
}

extension WorkLimit.State {
    /// Calls each registered closure once.
    fileprivate mutating func interrupt() {
        let waiting = interrupts.values
        interrupts.removeAll()
        for interrupt in waiting { interrupt() }
    }
}
