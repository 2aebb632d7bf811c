/// Observers that are called in the order in which they came, for as long as they are alive.
///
/// They are called in rounds: one that comes within a round is first called in the next, so that each has the beginning of what it has the
/// end of.
struct WeakObservers<Calls> {
    private struct Entry {
        weak var observer: AnyObject?
        let calls: Calls
        /// Whether it was there when the round began.
        var isInRound = false
    }

    private var entries: [Entry] = []

    /// Adds an observer; one that is there already stays where it is.
    mutating func add(_ observer: AnyObject, _ calls: Calls) {
        entries.removeAll { $0.observer == nil }
        if entries.contains(where: { $0.observer === observer }) { return }
        entries.append(Entry(observer: observer, calls: calls))
    }

    mutating func remove(_ observer: AnyObject) { entries.removeAll { $0.observer == nil || $0.observer === observer } }

    /// Begins a round with all that are there.
    mutating func beginRound() { for index in entries.indices { entries[index].isInRound = true } }

    /// Those of the round that are alive. Who is removed while others are called is not called any more: ask `contains` before each call.
    var alive: [(observer: AnyObject, calls: Calls)] {
        entries.compactMap { entry in entry.isInRound ? entry.observer.map { ($0, entry.calls) } : nil }
    }

    /// Whether an observer of the round is still there.
    func contains(_ observer: AnyObject) -> Bool { entries.contains { $0.observer === observer && $0.isInRound } }
}
