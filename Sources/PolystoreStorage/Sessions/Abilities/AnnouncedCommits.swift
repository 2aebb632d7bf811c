public import PolystoreFoundation

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
