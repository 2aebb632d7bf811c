internal import Foundation
internal import PolystoreStorage

/// Transactions of servers that are prepared for a commit of another store.
extension StackCore {
    /// Ends transactions of a store that are prepared for commits which have ended, and waits for the other ones.
    ///
    /// - Throws: `busy` when one has not ended in time; `peerUnavailable` when the store that decides cannot be asked.
    func settlePrepared(_ position: Int, _ entry: Entry, _ options: WriteOptions) throws(StorageError) {
        guard joint.mayBePrepared(position), let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        let deadline = ContinuousClock.now + .seconds(options.timeout)
        while try !endPrepared(position, store, { () throws(StorageError) in throw Self.cannotAsk }) {
            try options.limit?.check()
            if ContinuousClock.now > deadline {
                throw StorageError(.busy, "a commit over several servers did not end in time; try again")
            }
            Thread.sleep(forTimeInterval: 0.005)
        }
    }

    /// Ends those that can be ended now, whether or not anything says that there are any: called when a store comes.
    func endPrepared(_ position: Int, _ entry: Entry) throws(StorageError) {
        guard let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        joint.setMayBePrepared(position, true)
        _ = try endPrepared(position, store) {}
    }

    /// - Returns: Whether none is left.
    private func endPrepared(
        _ position: Int, _ store: any PreparedCommitStorage, _ cannotAsk: () throws(StorageError) -> Void
    ) throws(StorageError) -> Bool {
        var isLeft = false
        for commit in try store.preparedCommits() {
            switch try decision(on: commit) {
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

    /// Ends one; false where another session has it in its hands.
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
        "the store holds a transaction that ends as another store decided, which cannot be asked; nothing was written; add the other store to "
            + "the stack, or forget it with forgetPeers")

    /// Ends all transactions that a store has prepared for others: one whose commit nobody can tell of is undone.
    func forgetPrepared(_ position: Int, _ entry: Entry) throws(StorageError) {
        guard let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        for commit in try store.preparedCommits() {
            switch try decision(on: commit) {
            case .inProgress: break
            case let outcome: try store.endPrepared(for: commit, commits: outcome == .committed)
            }
        }
    }

    /// Whether commits over several servers are possible: then transactions of programs that died can be found at any time.
    private var serverCount: Int {
        entries.filter { $0.entry.store.ability((any PreparedCommitStorage).self) != nil }.count
    }

    /// What became of a commit of a store of the stack; nil where the stack does not have it, or it cannot say.
    private func decision(on commit: CommitToken) throws(StorageError) -> CommitOutcome? {
        guard let position = position(of: commit.storeID),
            let store = try store(position).ability((any CommitOutcomeStorage).self)
        else { return nil }
        return try store.outcome(of: commit)
    }
}
