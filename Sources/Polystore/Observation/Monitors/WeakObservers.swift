/// Observers that are told in the order in which they came, for as long as they are alive.
struct WeakObservers<Calls> {
    private struct Entry {
        weak var observer: AnyObject?
        let calls: Calls
    }

    private var entries: [Entry] = []

    /// Adds an observer; one that is there already stays where it is.
    mutating func add(_ observer: AnyObject, _ calls: Calls) {
        entries.removeAll { $0.observer == nil }
        if entries.contains(where: { $0.observer === observer }) { return }
        entries.append(Entry(observer: observer, calls: calls))
    }

    mutating func remove(_ observer: AnyObject) { entries.removeAll { $0.observer == nil || $0.observer === observer } }

    var isEmpty: Bool { entries.allSatisfy { $0.observer == nil } }

    /// Those that are alive. Who is removed while others are told is not told any more: ask `contains` before each call.
    var alive: [(observer: AnyObject, calls: Calls)] {
        entries.compactMap { entry in entry.observer.map { ($0, entry.calls) } }
    }

    func contains(_ observer: AnyObject) -> Bool { entries.contains { $0.observer === observer } }
}
