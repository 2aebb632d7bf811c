internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// What is kept up to date with commits on the threads of a stack.
protocol CommitFollower: AnyObject, Sendable {
    /// Whether the rows that changed are nearly always all it reads.
    var isLocal: Bool { get }

    /// Goes on to what commits made of it, and publishes that.
    func follow(_ look: FollowerLook) throws(StorageError)

    /// What commits made of it could not be found out, and cannot be by trying again.
    func cannotFollow()
}

extension CommitFollower {
    var isLocal: Bool { false }

    func cannotFollow() {}
}

/// What followers look at: commits that belong together, and snapshots that hold them.
struct FollowerLook {
    let batch: CommitBatch
    let sessions: SessionPool
    /// The snapshots are no older, nor are the rows that followers share.
    let begin = ContinuousClock.now

    /// Looks for somebody who fetched last at some time: at snapshots of its own, if those of the others may be older than what it knows.
    func look<R>(
        after fetch: ContinuousClock.Instant, _ core: StackCore, _ body: (FollowerLook) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        if begin > fetch { return try body(self) }
        let sessions = SessionPool(readingFrom: core)
        defer { sessions.end() }
        return try body(FollowerLook(batch: batch.inAnotherSnapshot, sessions: sessions))
    }

    /// The source to be told with what was found: none where it may be what others have done, which are in the same snapshot.
    func source(unless isMixed: (CommitBatch) -> Bool) -> (any Hashable & Sendable)? {
        batch.source(in: sessions, unless: isMixed)
    }
}

/// Leads the publishers of a stack from commit to commit: one for all, so that a commit costs those who make it the same however many
/// there are.
final class PublisherCenter: CommitSubscriber {
    private static let pause = 1.0

    private struct State: Sendable {
        var isWorking = false
        var isSignalled = false
    }

    private struct Follower: Sendable {
        weak var follower: (any CommitFollower)?
    }

    private let mailbox = CommitMailbox()
    private let state = Mutex(State())
    /// Under a lock of its own: to look through a thousand takes longer than a commit, which does not wait for it.
    private let followers = Mutex<[Follower]>([])
    /// The stack, which holds the center.
    private let core: @Sendable () -> StackCore?

    init(_ core: @escaping @Sendable () -> StackCore?) { self.core = core }

    /// Leads a follower on from now on, for as long as it is alive.
    func add(_ follower: any CommitFollower) {
        followers.withLock { followers in
            followers.removeAll { $0.follower == nil }
            followers.append(Follower(follower: follower))
        }
    }

    func receive(_ changes: CommittedChanges) {
        mailbox.receive(changes)
        wake()
    }

    private func wake() {
        let begins = state.withLock { state in
            state.isSignalled = true
            defer { state.isWorking = true }
            return !state.isWorking
        }
        guard begins, let core = core() else { return }
        do throws(StorageError) {
            try core.workers.threads.run { [weak self] in self?.work() }
        } catch {
            state.withLock { $0.isWorking = false }
            wakeLater()
        }
    }

    private func wakeLater() { DispatchQueue.global().asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.wake() } }

    private func work() {
        while beginRound() {
            guard let core = core() else { return }
            let followers = followers.withLock { $0.compactMap(\.follower) }
            let commits = mailbox.take()
            do throws(StorageError) {
                try reporting { () throws(StorageError) in
                    for batch in CommitBatch.batches(of: commits) { try lead(followers, batch, core) }
                }
            } catch {
                // It was reported; everything is read again when the store may answer.
                mailbox.putBack(commits.flatMap { $0.parts.map(\.store) })
                wakeLater()
            }
        }
    }

    /// Leads those who read more than the rows that changed in one snapshot. The others share those rows, and let go of the snapshot at once:
    /// while one is held, a commit of LMDB beside a thousand lists took 1.7 times as long.
    private func lead(_ followers: [any CommitFollower], _ batch: CommitBatch, _ core: StackCore) throws(StorageError) {
        let look = FollowerLook(batch: batch, sessions: SessionPool(readingFrom: core))
        defer { look.sessions.end() }
        var local: [any CommitFollower] = []
        for follower in followers {
            if follower.isLocal { local.append(follower) } else { try lead(follower, look) }
        }
        for follower in local {
            try lead(follower, look)
            look.sessions.letGo()
        }
    }

    /// Leads one on. What cannot be done for it, however often it is tried, is not the affair of the others.
    private func lead(_ follower: any CommitFollower, _ look: FollowerLook) throws(StorageError) {
        do throws(StorageError) { try follower.follow(look) } catch  where !error.isRetryable {
            try? reporting { () throws(StorageError) in throw error }
            follower.cannotFollow()
        }
    }

    /// Whether something came since the last round began; otherwise the work ends.
    private func beginRound() -> Bool {
        state.withLock { state in
            state.isWorking = state.isSignalled
            state.isSignalled = false
            return state.isWorking
        }
    }
}
