package import PolystoreFoundation

/// A write transaction of a store with announced commits.
package protocol CommitAnnouncingWriter: StorageWriter {
    /// Announces that the transaction will carry changes for another store when it commits. From then on `awaitCommits` waits for the end
    /// of the transaction, even if the program exits.
    func announceCommit(for follower: UUID) throws(StorageError)
}
