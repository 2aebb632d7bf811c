internal import PolystoreStorage

/// The monitors of a home, referenced weakly.
struct HomeMonitors {
    private struct Entry {
        weak var monitor: (any HomeMonitor)?
    }

    private var entries: [Entry] = []

    /// The live ones, in the order in which they were added.
    var alive: [any HomeMonitor] { entries.compactMap(\.monitor) }

    mutating func add(_ monitor: any HomeMonitor) {
        entries.removeAll { $0.monitor == nil }
        entries.append(Entry(monitor: monitor))
    }

    func contains(_ monitor: any HomeMonitor) -> Bool { entries.contains { $0.monitor === monitor } }

    mutating func remove(_ monitor: any HomeMonitor) { entries.removeAll { $0.monitor == nil || $0.monitor === monitor } }
}
