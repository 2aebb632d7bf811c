internal import PolystoreObjects

/// The input of followers: commits that belong together, and snapshots that contain them.
struct FollowerLook {
    let batch: CommitBatch
    let sessions: SessionPool
    /// A time before the snapshots, and before the rows that followers share, were read.
    let begin = ContinuousClock.now

    /// Calls a closure for a follower that last fetched at some time: with its own snapshots, if the shared ones may be older than its
    /// data.
    func look<R>(
        after fetch: ContinuousClock.Instant, _ core: StackCore, _ body: (FollowerLook) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        if begin > fetch { return try body(self) }
        // Where commits wait for readers, no reader may begin while it holds another snapshot.
        self.sessions.letGo()
        let sessions = SessionPool(readingFrom: core)
        defer { sessions.end() }
        return try body(FollowerLook(batch: batch.inAnotherSnapshot, sessions: sessions))
    }

    /// Returns the source to report with a result; nil if the result may include effects of other commits in the same snapshot.
    func source(unless isMixed: (CommitBatch) -> Bool) -> (any Hashable & Sendable)? {
        batch.source(in: sessions, unless: isMixed)
    }
}
