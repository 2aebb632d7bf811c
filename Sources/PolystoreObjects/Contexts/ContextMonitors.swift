internal import PolystoreStorage

/// The monitors of a context, referenced weakly.
package struct ContextMonitors {
    private struct Entry {
        weak var monitor: (any ContextMonitor)?
    }

    private var entries: [Entry] = []

    /// The live ones, in the order in which they were added.
    var alive: [any ContextMonitor] { entries.compactMap(\.monitor) }

    package mutating func add(_ monitor: any ContextMonitor) {
        entries.removeAll { $0.monitor == nil }
        entries.append(Entry(monitor: monitor))
    }

    func contains(_ monitor: any ContextMonitor) -> Bool { entries.contains { $0.monitor === monitor } }

    mutating func remove(_ monitor: any ContextMonitor) { entries.removeAll { $0.monitor == nil || $0.monitor === monitor } }
}
