package import PolystoreFoundation

/// A store, such as a server, in which a commit can still be in progress after its program has exited.
package protocol AnnouncedCommitStorage: StorageInterface {
    /// Waits until no commit that was announced for another store is in progress, including commits of programs that have exited.
    ///
    /// *Behavior*: a session that begins afterwards sees every such commit that happened, and none of them happens later. Throws `busy`
    /// after the timeout of the options.
    func awaitCommits(for follower: UUID, _ options: WriteOptions) throws(StorageError)
}
