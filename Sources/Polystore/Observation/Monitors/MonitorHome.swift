internal import PolystoreStorage

/// What monitors belong to and are kept up to date by: a view context, or a transaction that is not tied to a closure.
protocol MonitorHome: AnyObject, FetchSource {
    var core: StackCore { get }
    var context: ObjectContext { get }
    func remove(_ monitor: any HomeMonitor)
}

/// What a home keeps up to date. First all are asked what changes mean for them, then all are told.
protocol HomeMonitor: AnyObject {
    /// The stores that it reads.
    var stores: Set<Int> { get }
    /// Finds out what commits mean for it, without a change that anybody could see.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - sessions: The snapshot in which they are looked at.
    ///   - stale: The objects of the home that will be different.
    /// - Returns: Whether they concern it.
    func prepare(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects) throws(StorageError) -> Bool
    /// Whether what was prepared for commits may be what others have done, which are in the same snapshot.
    func isMixed(_ batch: CommitBatch, with others: CommitBatch) -> Bool
    /// Finds out what the changes of a transaction since the last time mean for it.
    ///
    /// - Returns: Whether they concern it.
    func preparePending() throws(StorageError) -> Bool
    /// Tells that objects and lists are about to change; all are still what they were.
    func willChange(_ source: (any Hashable & Sendable)?)
    /// Goes on to what was prepared and tells it; the objects of the home have changed.
    func didChange(_ source: (any Hashable & Sendable)?)
    /// What commits mean for it could not be found out, and cannot be by trying again: it begins anew with the next that concern its stores.
    func cannotFollow()
    /// Begins anew with the home; after an error it is asked again.
    func homeDidReset() throws(StorageError)
}

extension HomeMonitor {
    /// Whether it can go on although some stores cannot be read.
    func isReadable(without unread: UnreadStores) -> Bool { unread.isEmpty || stores.isDisjoint(with: unread.keys) }

    /// It tells no source.
    func isMixed(_ batch: CommitBatch, with others: CommitBatch) -> Bool { false }
}

/// The monitors of a home, for as long as they are alive.
struct HomeMonitors {
    private struct Entry {
        weak var monitor: (any HomeMonitor)?
    }

    private var entries: [Entry] = []

    /// Those that are alive, in the order in which they came.
    var alive: [any HomeMonitor] { entries.compactMap(\.monitor) }

    mutating func add(_ monitor: any HomeMonitor) {
        entries.removeAll { $0.monitor == nil }
        entries.append(Entry(monitor: monitor))
    }

    func contains(_ monitor: any HomeMonitor) -> Bool { entries.contains { $0.monitor === monitor } }

    mutating func remove(_ monitor: any HomeMonitor) { entries.removeAll { $0.monitor == nil || $0.monitor === monitor } }
}
