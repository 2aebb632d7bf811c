internal import PolystoreStorage

/// A receiver of commits. Calls must be short, because they can block other commits.
package protocol CommitSubscriber: AnyObject, Sendable {
    func receive(_ changes: CommittedChanges)
}
