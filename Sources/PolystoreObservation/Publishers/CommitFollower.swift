internal import PolystoreObjects

/// A component that the threads of a stack keep up to date with commits.
protocol CommitFollower: AnyObject, Sendable {
    /// Whether it usually reads only the changed rows.
    var isLocal: Bool { get }

    /// Applies the effect of commits, and publishes the result.
    func follow(_ look: FollowerLook) throws(StorageError)

    /// Handles commits whose effect could not be determined and cannot be by a retry.
    func cannotFollow()

    /// Ends the sequences of what was published: nothing will follow, because the stack was shut down.
    func finish()
}

extension CommitFollower {
    var isLocal: Bool { false }

    func cannotFollow() {}

    func finish() {}
}
