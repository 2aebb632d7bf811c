internal import Foundation
internal import PolystoreStorage

/// Transactions of servers that are prepared for a commit of another store.
extension StackCore {
    /// Ends transactions of a store that are prepared for commits which have ended, as those have. One whose commit is still under way goes on
    /// holding its rows, so that nobody overtakes it.
    ///
    /// - Parameter atOnce: Whether to look although nothing says that there are any.
    /// - Throws: `peerUnavailable` when the store that decides cannot be asked.
    func settlePrepared(_ position: Int, _ entry: Entry, atOnce: Bool = false) throws(StorageError) {
        guard let store = entry.store.ability((any PreparedCommitStorage).self), atOnce || joint.mayBePrepared(position) else { return }
        var isUndecided = false
        for commit in try store.preparedCommits() {
            switch try outcome(of: commit) {
            case .committed: try store.endPrepared(for: commit, commits: true)
            case .notCommitted: try store.endPrepared(for: commit, commits: false)
            case .inProgress: isUndecided = true
            case .unknown, nil:
                isUndecided = true
                if atOnce { continue }
                throw StorageError(
                    .peerUnavailable,
                    "the store holds a transaction that ends as another store decided, which cannot be asked; nothing was written; add the "
                        + "other store to the stack, or forget it with forgetPeers")
            }
        }
        joint.setMayBePrepared(position, isUndecided || serverCount > 1)
    }

    /// Ends all transactions that a store has prepared for others: one whose commit nobody can tell of is undone.
    func forgetPrepared(_ position: Int, _ entry: Entry) throws(StorageError) {
        guard let store = entry.store.ability((any PreparedCommitStorage).self) else { return }
        for commit in try store.preparedCommits() {
            switch try outcome(of: commit) {
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
    private func outcome(of commit: CommitToken) throws(StorageError) -> CommitOutcome? {
        guard let position = position(of: commit.storeID),
            let store = try store(position).ability((any CommitOutcomeStorage).self)
        else { return nil }
        return try store.outcome(of: commit)
    }
}
