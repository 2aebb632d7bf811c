/// Weakly referenced observers, called in the order in which they were added.
///
/// They are called in rounds: an observer added during a round is first called in the next one, so that each receives both the beginning
/// and the end of a change.
struct WeakObservers<Calls> {
    private struct Entry {
        weak var observer: AnyObject?
        let calls: Calls
        /// Whether it was present when the round began.
        var isInRound = false
    }

    private var entries: [Entry] = []

    /// Adds an observer. One that was already added keeps its position.
    mutating func add(_ observer: AnyObject, _ calls: Calls) {
        entries.removeAll { $0.observer == nil }
        if entries.contains(where: { $0.observer === observer }) { return }
        entries.append(Entry(observer: observer, calls: calls))
    }

    mutating func remove(_ observer: AnyObject) { entries.removeAll { $0.observer == nil || $0.observer === observer } }

    /// Begins a round with all present observers.
    mutating func beginRound() { for index in entries.indices { entries[index].isInRound = true } }

    /// The live observers of the round. An observer that is removed while others are called must not be called any more: check `contains`
    /// before each call.
    var alive: [(observer: AnyObject, calls: Calls)] {
        entries.compactMap { entry in entry.isInRound ? entry.observer.map { ($0, entry.calls) } : nil }
    }

    /// Returns whether an observer of the round is still present.
    func contains(_ observer: AnyObject) -> Bool { entries.contains { $0.observer === observer && $0.isInRound } }
}
