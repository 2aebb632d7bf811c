internal import Foundation
internal import Synchronization

/// Who is told what a tracker finds. What is told before anybody listens waits for the first who does.
final class TrackerListeners: Sendable {
    private struct Known: Sendable {
        weak var listener: TrackerListener?
    }

    private struct State: Sendable {
        /// The listener that nobody has asked for yet.
        var first: TrackerListener?
        var known: [Known]
    }

    private let state: Mutex<State>
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 1)
        let first = TrackerListener(capacity: self.capacity)
        state = Mutex(State(first: first, known: [Known(listener: first)]))
    }

    func stream() -> AsyncStream<PersistentHistoryTracker.Event> {
        let listener = state.withLock { state in
            if let first = state.first {
                state.first = nil
                return first
            }
            let listener = TrackerListener(capacity: capacity)
            state.known.removeAll { $0.listener == nil }
            state.known.append(Known(listener: listener))
            return listener
        }
        return listener.events
    }

    func tell(_ event: PersistentHistoryTracker.Event) { for listener in all { listener.tell(event) } }

    func finish() { for listener in all { listener.finish() } }

    /// Not inlined into the task that tells: Decisions, "No lock is inlined where a task waits".
    @inline(never) private var all: [TrackerListener] { state.withLock { $0.known.compactMap { $0.listener } } }
}
