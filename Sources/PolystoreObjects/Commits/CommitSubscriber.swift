internal import PolystoreStorage

/// A receiver of commits. Calls must be short, because they can block other commits.
package protocol CommitSubscriber: AnyObject, Sendable {
    func receive(_ changes: CommittedChanges)

    /// Records that no commit will follow, because the stack was shut down.
    func didReceiveAll()
}

extension CommitSubscriber {
    package func didReceiveAll() {}
}
