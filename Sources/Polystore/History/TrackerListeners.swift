internal import Foundation
internal import Synchronization

/// Who is told what a tracker finds. Each has room for a number of events; what does not fit becomes one gap.
final class TrackerListeners: Sendable {
    private struct Listener: Sendable {
        let continuation: AsyncStream<PersistentHistoryTracker.Event>.Continuation
        /// The stores of which something was dropped.
        var missed: Set<UUID> = []
    }

    private let listeners = Mutex<[Int: Listener]>([:])
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(capacity, 1) }

    func stream() -> AsyncStream<PersistentHistoryTracker.Event> {
        let (stream, continuation) = AsyncStream<PersistentHistoryTracker.Event>.makeStream(bufferingPolicy: .bufferingOldest(capacity))
        let number = listeners.withLock { listeners in
            let number = (listeners.keys.max() ?? 0) + 1
            listeners[number] = Listener(continuation: continuation)
            return number
        }
        continuation.onTermination = { [weak self] _ in _ = self?.listeners.withLock { $0.removeValue(forKey: number) } }
        return stream
    }

    /// Not inlined into the task that calls it: Decisions, "No lock is inlined where a task waits".
    @inline(never) func tell(_ event: PersistentHistoryTracker.Event) {
        // Outside the lock, because a stream that has ended calls back.
        for (number, var listener) in listeners.withLock({ $0 }) {
            for store in listener.missed {
                if case .enqueued = listener.continuation.yield(.gap(store: store)) { listener.missed.remove(store) }
            }
            if !listener.missed.isEmpty {
                listener.missed.insert(event.store)
            } else if case .dropped = listener.continuation.yield(event) {
                listener.missed.insert(event.store)
            }
            let missed = listener.missed
            listeners.withLock { $0[number]?.missed = missed }
        }
    }

    func finish() { for listener in listeners.withLock({ Array($0.values) }) { listener.continuation.finish() } }
}
