internal import Foundation
internal import Synchronization

/// What waits for one listener of a tracker: so many events, and behind them one gap for each store of which some did not fit.
///
/// What tasks call is not inlined: Decisions, "No lock is inlined where a task waits".
final class TrackerListener: Sendable {
    typealias Event = PersistentHistoryTracker.Event

    private let waiting = Mutex<[Event]>([])
    private let capacity: Int
    /// Has an element after something has come; several may be one.
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init(capacity: Int) {
        self.capacity = capacity
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        arrivals = stream
        arrival = continuation
    }

    /// The events as they come, for one consumer. It alone holds the listener.
    var events: AsyncStream<Event> { AsyncStream(unfolding: { await self.next() }) }

    @inline(never) func tell(_ event: Event) {
        waiting.withLock { waiting in
            if waiting.count < capacity {
                waiting.append(event)
            } else if !waiting.reversed().prefix(while: \.isGap).contains(where: { $0.store == event.store }) {
                waiting.append(.gap(store: event.store))
            }
        }
        arrival.yield()
    }

    /// Ends the events behind those that wait.
    func finish() { arrival.finish() }

    private func next() async -> Event? {
        if let event = take() { return event }
        for await _ in arrivals { if let event = take() { return event } }
        return take()
    }

    @inline(never) private func take() -> Event? { waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

extension PersistentHistoryTracker.Event {
    fileprivate var isGap: Bool {
        if case .gap = self { return true }
        return false
    }
}
