internal import Synchronization

/// The commits of one instance of a store, counted so that its watch can tell them from those of others.
public final class OwnCommits: Sendable {
    /// What was committed, and what is about to be.
    struct Counts: Sendable, Hashable {
        /// Commits that wrote an entry of the history.
        var listed: Int64 = 0
        /// Commits that changed what the history does not name.
        var unlisted: Int64 = 0
        var pendingListed: Int64 = 0
        var pendingUnlisted: Int64 = 0
        /// Whether the store goes over to another form, in commits that are not counted.
        var isReshaping = false
        /// How often it has.
        var shapes = 0
    }

    private let state = Mutex(Counts())

    /// None.
    public init() {}

    var counts: Counts { state.withLock { $0 } }

    /// Runs the engine's commit of a transaction.
    ///
    /// - Parameters:
    ///   - isListed: Whether it wrote an entry of the history.
    ///   - isUnlisted: Whether it changed what no entry names.
    public func count(isListed: Bool, isUnlisted: Bool, _ commit: () throws(StorageError) -> Void) throws(StorageError) {
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

    /// Runs commits of any number that give the store another form; the watch looks at nothing meanwhile, and begins anew afterwards.
    public func reshape<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
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
