internal import PolystoreStorage

/// A component that a view context or a detached transaction keeps up to date: first it prepares all of them with the changes, then it
/// notifies all.
package protocol ContextMonitor: AnyObject {
    /// The stores that it reads.
    var stores: Set<Int> { get }
    /// Determines the effect of commits on it, without a visible change.
    ///
    /// - Parameters:
    ///   - batch: The commits.
    ///   - sessions: The snapshot in which they are evaluated.
    ///   - stale: The objects of the context whose values will change.
    /// - Returns: Whether they concern it.
    func prepare(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects) throws(StorageError) -> Bool
    /// Returns whether the change prepared for commits may include effects of other commits in the same snapshot.
    func isMixed(_ batch: CommitBatch, with others: CommitBatch) -> Bool
    /// Determines the effect of the changes of a transaction since the last call.
    ///
    /// - Returns: Whether they concern it.
    func preparePending() throws(StorageError) -> Bool
    /// Notifies observers that objects and lists are about to change. All still have their previous state.
    func willChange(_ source: (any Hashable & Sendable)?)
    /// Applies the prepared change and notifies observers. The objects of the context have changed.
    func didChange(_ source: (any Hashable & Sendable)?)
    /// The error that kept the latest change from being reported and that a retry can resolve. The context then calls `contextDidReset`.
    var unreadError: StorageError? { get }
    /// Handles commits whose effect could not be determined and cannot be by a retry: it fetches again with the next commits that concern
    /// its stores.
    func cannotFollow()
    /// Fetches again after a reset of the context, or after a change that it could not read. After an error the context calls it again.
    func contextDidReset() throws(StorageError)
}

extension ContextMonitor {
    /// Returns whether it can be updated although some stores cannot be read.
    package func isReadable(without unread: UnreadStores) -> Bool { unread.isEmpty || stores.isDisjoint(with: unread.keys) }

    /// Nil: it reads everything when it is prepared.
    package var unreadError: StorageError? { nil }

    /// Returns false: it reports no source.
    package func isMixed(_ batch: CommitBatch, with others: CommitBatch) -> Bool { false }
}
