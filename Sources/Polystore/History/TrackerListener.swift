/// One who is told what a tracker finds, event by event.
final class TrackerListener: Sendable {
    private let log: TrackerLog
    /// What the log knows it by.
    private let number: Int
    /// Has an element after something has come; several may be one.
    private let arrivals: AsyncStream<Void>

    init(_ log: TrackerLog, _ number: Int, _ arrivals: AsyncStream<Void>) {
        self.log = log
        self.number = number
        self.arrivals = arrivals
    }

    deinit { log.leave(number) }

    /// The events as they come, for one consumer. It alone holds the listener.
    var events: AsyncStream<PersistentHistoryTracker.Event> { AsyncStream(unfolding: { await self.next() }) }

    private func next() async -> PersistentHistoryTracker.Event? {
        if let event = log.next(number) { return event }
        for await _ in arrivals { if let event = log.next(number) { return event } }
        return Task.isCancelled ? nil : log.next(number)
    }
}
