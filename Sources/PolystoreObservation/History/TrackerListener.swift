/// A consumer that receives the events of a tracker, one by one.
final class TrackerListener: Sendable {
    private let log: TrackerLog
    /// The number of the listener in the log.
    private let number: Int
    /// Yields an element after new events have arrived. One element may represent several arrivals.
    private let arrivals: AsyncStream<Void>

    init(_ log: TrackerLog, _ number: Int, _ arrivals: AsyncStream<Void>) {
        self.log = log
        self.number = number
        self.arrivals = arrivals
    }

    deinit { log.leave(number) }

    /// The sequence of events for one consumer. Only the sequence retains the listener.
    var events: AsyncStream<PersistentHistoryTracker.Event> { AsyncStream(unfolding: { await self.next() }) }

    /// Returns the next event if there is one. The previous one is processed.
    func take() -> PersistentHistoryTracker.Event? { log.next(number) }

    private func next() async -> PersistentHistoryTracker.Event? {
        if let event = take() { return event }
        for await _ in arrivals { if let event = log.next(number) { return event } }
        return Task.isCancelled ? nil : log.next(number)
    }
}
