public import Foundation
internal import Synchronization

/// The deadline and the cancellation of one piece of work, shared by the layers that carry it out, down to the engine.
///
/// Layers call `check` between steps. An engine that can be interrupted in the middle of a step registers how with `onEnd`.
public final class WorkLimit: Sendable {
    fileprivate struct State {
        var interrupts: [Int: @Sendable () -> Void] = [:]
        var next = 0
        var timer: (any DispatchSourceTimer)?
    }

    /// When the work has to have ended; nil without a limit.
    public let deadline: ContinuousClock.Instant?
    /// Beside the deadline, whose type is opaque: to look at it takes calls by way of its metadata.
    private let hasDeadline: Bool

    private let state = Mutex(State())
    /// Beside the state: it is asked for at every step of the work, where a lock would be a third of a look-up by key in a mapped file.
    private let isCancelled = Atomic(false)

    /// A limit that ends after `timeout`, or only by cancellation.
    public init(timeout: Duration? = nil) {
        deadline = timeout.map { .now + $0 }
        hasDeadline = timeout != nil
    }

    deinit { state.withLock { $0.timer?.cancel() } }

    /// Whether the work was cancelled or its deadline has passed.
    public var hasEnded: Bool { isCancelled.load(ordering: .acquiring) || deadline.map { ContinuousClock.now >= $0 } ?? false }

    /// Seconds until the deadline, at least 0; infinity without one.
    public var secondsLeft: TimeInterval {
        guard let deadline else { return .infinity }
        let left = ContinuousClock.now.duration(to: deadline).components
        return max(Double(left.seconds) + Double(left.attoseconds) / 1e18, 0)
    }

    /// Ends the work: what is registered with `onEnd` is called before this returns.
    @inline(never) public func cancel() {
        state.withLock { state in
            // Under the lock, so that what is registered is either called here or sees the flag.
            isCancelled.store(true, ordering: .releasing)
            state.interrupt()
        }
    }

    /// - Throws: `cancelled`, also when the task that calls was cancelled; `timeout` after the deadline.
    @inline(never) public func check() throws(StorageError) {
        if isCancelled.load(ordering: .acquiring) || Task.isCancelled { throw StorageError(.cancelled, "the task was cancelled") }
        if hasDeadline, let deadline, ContinuousClock.now >= deadline {
            throw StorageError(.timeout, "the transaction did not end within its time; nothing was changed")
        }
    }

    /// Calls a closure once when the work is cancelled or its deadline passes, on whatever thread that is noticed; at once if it was before.
    ///
    /// The closure must be short and must not call the limit. It is never called after `removeInterrupt` has returned.
    /// - Returns: The number by which it is removed.
    @inline(never) public func onEnd(_ interrupt: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.next += 1
            state.interrupts[state.next] = interrupt
            // The timer fires once: what comes after it must not wait for it.
            if isCancelled.load(ordering: .acquiring) || deadline.map({ ContinuousClock.now >= $0 }) ?? false {
                state.interrupt()
            } else if let deadline, state.timer == nil {
                state.timer = timer(at: deadline)
            }
            return state.next
        }
    }

    /// Removes a closure that `onEnd` was given, waiting while it runs.
    @inline(never) public func removeInterrupt(_ number: Int) { state.withLock { _ = $0.interrupts.removeValue(forKey: number) } }

    private func timer(at deadline: ContinuousClock.Instant) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: .global())
        timer.setEventHandler { [weak self] in self?.state.withLock { $0.interrupt() } }
        timer.schedule(deadline: .now() + secondsLeft)
        timer.activate()
        return timer
    }
}

extension WorkLimit.State {
    /// Calls what is registered, each once.
    fileprivate mutating func interrupt() {
        let waiting = interrupts.values
        interrupts.removeAll()
        for interrupt in waiting { interrupt() }
    }
}
