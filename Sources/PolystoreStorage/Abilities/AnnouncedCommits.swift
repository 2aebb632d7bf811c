public import Foundation

/// A store whose commits can still be under way when their program is gone, as those of a server.
public protocol AnnouncedCommitStorage: StorageInterface {
    /// Waits until no commit that was announced for another store is under way, also one whose program is gone.
    ///
    /// *Behavior*: a session that begins afterwards sees every such commit that has happened, and none happens later. `busy` after the
    /// options' timeout.
    func awaitCommits(for follower: UUID, _ options: WriteOptions) throws(StorageError)
}

/// A write transaction of such a store.
public protocol CommitAnnouncingWriter: StorageWriter {
    /// Announces that the transaction, when it commits, carries changes for another store: `awaitCommits` waits for its end from now on,
    /// whatever becomes of the program.
    func announceCommit(for follower: UUID) throws(StorageError)
}

extension OpenStore {
    /// Waits until no commit that was announced for another store is under way; without the ability a commit ends with its program.
    public func awaitCommits(for follower: UUID, _ options: WriteOptions) throws(StorageError) {
        try ability((any AnnouncedCommitStorage).self)?.awaitCommits(for: follower, options)
    }
}

extension WriteSession {
    /// Announces that the transaction carries changes for another store; without the ability a commit ends with its program.
    public func announceCommit(for follower: UUID) throws(StorageError) {
        try ability((any CommitAnnouncingWriter).self)?.announceCommit(for: follower)
    }
}
