internal import Synchronization

/// Counts the commits of one instance of a store, so that its watch can distinguish them from those of other writers.
package final class OwnCommits: Sendable {
    /// The numbers of completed and pending commits.
    struct Counts: Sendable, Hashable {
        /// The number of commits that wrote an entry of the history.
        var listed: Int64 = 0
        /// The number of commits with changes that the history does not record.
        var unlisted: Int64 = 0
        var pendingListed: Int64 = 0
        var pendingUnlisted: Int64 = 0
        /// Whether the store is being restructured, in commits that are not counted.
        var isReshaping = false
        /// The number of times that the store was restructured.
        var shapes = 0
    }

    private let state = Mutex(Counts())

    /// Creates counters that are 0.
    package init() {}

    var counts: Counts { state.withLock { $0 } }

    /// Runs the engine's commit of a transaction and counts it.
    ///
    /// - Parameters:
    ///   - isListed: Whether the transaction wrote an entry of the history.
    ///   - isUnlisted: Whether the transaction made changes that no entry records.
    package func count(isListed: Bool, isUnlisted: Bool, _ commit: () throws(StorageError) -> Void) throws(StorageError) {
        let listed: Int64 = isListed ? 1 : 0, unlisted: Int64 = isUnlisted ? 1 : 0
        if !isListed, !isUnlisted { return try commit() }
        state.withLock { state in
            state.pendingListed += listed
            state.pendingUnlisted += unlisted
        }
        var isDone = false
        defer {
            state.withLock { state in
                state.pendingListed -= listed
                state.pendingUnlisted -= unlisted
                if isDone {
                    state.listed += listed
                    state.unlisted += unlisted
                }
            }
        }
        try commit()
        isDone = true
    }

    /// Runs any number of commits that restructure the store. The watch ignores the store meanwhile, and starts again from scratch
    /// afterwards.
    package func reshape<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        state.withLock { $0.isReshaping = true }
        defer {
            state.withLock { state in
                state.isReshaping = false
                state.shapes += 1
            }
        }
        return try body()
    }
}
