internal import PolystoreFoundation
internal import PolystoreStorage

/// Server transactions that are prepared for a commit of another store.
extension StackCore {
    /// Ends the transactions of a store that are prepared for completed commits, and waits for the other ones.
    ///
    /// - Throws: `busy` if one of them has not ended in time; `peerUnavailable` if the deciding store cannot be asked.
    func settlePrepared(_ position: Int, _ entry: Entry, _ options: WriteOptions) throws(StorageError) {
        guard joint.mayBePrepared(position), let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        let deadline = ContinuousClock.now + .seconds(options.timeout)
        while try !endPrepared(position, store, options.limit, { () throws(StorageError) in throw Self.cannotAsk }) {
            try options.limit?.check()
            if ContinuousClock.now > deadline {
                throw StorageError(.busy, "timed out waiting for a commit over several servers; try again")
            }
            Threads.pause(seconds: 0.005)
        }
    }

    /// Ends the prepared transactions whose outcome is known, without a check for recorded ones. Called when a store is added.
    func endPrepared(_ position: Int, _ entry: Entry) throws(StorageError) {
        guard let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        joint.setMayBePrepared(position, true)
        _ = try endPrepared(position, store, nil) {}
    }

    /// - Returns: Whether no prepared transaction remains.
    private func endPrepared(
        _ position: Int, _ store: any PreparedCommitStorage, _ limit: WorkLimit?, _ cannotAsk: () throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        var isLeft = false
        for commit in try store.preparedCommits() {
            switch try decision(on: commit, limit) {
            case .committed: if try !end(commit, in: store, commits: true) { isLeft = true }
            case .notCommitted: if try !end(commit, in: store, commits: false) { isLeft = true }
            case .inProgress: isLeft = true
            case .unknown, nil:
                isLeft = true
                try cannotAsk()
            }
        }
        joint.setMayBePrepared(position, isLeft || serverCount > 1)
        return !isLeft
    }

    /// Ends one prepared transaction. Returns false if another session is using it.
    private func end(_ commit: CommitToken, in store: any PreparedCommitStorage, commits: Bool) throws(StorageError) -> Bool {
        do throws(StorageError) {
            try store.endPrepared(for: commit, commits: commits)
            return true
        } catch  where error.code == .busy {
            return false
        }
    }

    private static let cannotAsk = StorageError(
        .peerUnavailable,
        "the store has a prepared transaction whose outcome another, unavailable store decides; nothing was written; add that store to "
            + "the stack, or call forgetPeers")

    /// Ends all transactions that a store has prepared for other stores. A transaction whose outcome no store can determine is rolled back.
    func forgetPrepared(_ position: Int, _ entry: Entry) throws(StorageError) {
        guard let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        for commit in try store.preparedCommits() {
            switch try decision(on: commit) {
            case .inProgress: break
            case let outcome: try store.endPrepared(for: commit, commits: outcome == .committed)
            }
        }
    }

    /// The number of stores with prepared transactions. With at least two, commits over several servers are possible, and transactions of
    /// programs that exited can be found at any time.
    private var serverCount: Int {
        entries.filter { $0.entry.store.ability((any PreparedCommitStorage).self) != nil }.count
    }

    /// Returns the outcome of a commit of a store; nil if the store is not in the stack or cannot determine outcomes.
    private func decision(on commit: CommitToken, _ limit: WorkLimit? = nil) throws(StorageError) -> CommitOutcome? {
        guard let position = position(of: commit.storeID),
            let store = try store(position).ability((any CommitOutcomeStorage).self)
        else { return nil }
        return try store.outcome(of: commit, limit: limit)
    }
}
