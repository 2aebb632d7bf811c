public import Foundation

/// A store, such as a server, in which a commit can still be in progress after its program has exited.
package protocol AnnouncedCommitStorage: StorageInterface {
    /// Waits until no commit that was announced for another store is in progress, including commits of programs that have exited.
    ///
    /// *Behavior*: a session that begins afterwards sees every such commit that happened, and none of them happens later. Throws `busy`
    /// after the timeout of the options.
    func awaitCommits(for follower: UUID, _ options: WriteOptions) throws(StorageError)
}

/// A write transaction of a store with announced commits.
package protocol CommitAnnouncingWriter: StorageWriter {
    /// Announces that the transaction will carry changes for another store when it commits. From then on `awaitCommits` waits for the end
    /// of the transaction, even if the program exits.
    func announceCommit(for follower: UUID) throws(StorageError)
}

extension OpenStore {
    /// Waits until no commit that was announced for another store is in progress. Without this ability a commit ends with its program.
    public func awaitCommits(for follower: UUID, _ options: WriteOptions) throws(StorageError) {
        try ability((any AnnouncedCommitStorage).self)?.awaitCommits(for: follower, options)
    }
}

extension WriteSession {
    /// Announces that the transaction carries changes for another store. Without this ability a commit ends with its program.
    public func announceCommit(for follower: UUID) throws(StorageError) {
        try ability((any CommitAnnouncingWriter).self)?.announceCommit(for: follower)
    }
}
