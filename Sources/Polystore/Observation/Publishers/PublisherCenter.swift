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
        // Where commits wait for whoever reads, nobody begins to while he holds another snapshot.
        self.sessions.letGo()
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
///
/// A publisher that cannot be led on, because its store does not answer for one, is left behind: it is tried again by itself, more and more
/// seldom, and the others go on.
final class PublisherCenter: CommitSubscriber {
    private struct State: Sendable {
        var isWorking = false
        var isSignalled = false
    }

    private struct Follower: Sendable {
        weak var follower: (any CommitFollower)?
    }

    /// One that could not be led on.
    private struct Straggler: Sendable {
        static let shortestPause = 1.0
        static let longestPause = 5.0

        weak var follower: (any CommitFollower)?
        /// The stores of which it does not know what changed.
        var stores: Set<Int>
        /// Seconds until it is tried again.
        var pause = shortestPause
        var next: ContinuousClock.Instant

        init(_ follower: any CommitFollower, _ stores: Set<Int>) {
            self.follower = follower
            self.stores = stores
            next = .now + .seconds(pause)
        }

        mutating func failAgain() {
            pause = min(pause * 2, Self.longestPause)
            next = .now + .seconds(pause)
        }
    }

    private let mailbox = CommitMailbox()
    private let state = Mutex(State())
    /// Under a lock of its own: to look through a thousand takes longer than a commit, which does not wait for it.
    private let followers = Mutex<[Follower]>([])
    /// Those that were left behind.
    private let stragglers = Mutex<[ObjectIdentifier: Straggler]>([:])
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
            wake(after: Straggler.shortestPause)
        }
    }

    private func wake(after pause: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [weak self] in self?.wake() }
    }

    private func work() {
        while beginRound() {
            guard let core = core() else { return }
            let followers = followers.withLock { $0.compactMap(\.follower) }
            for batch in CommitBatch.batches(of: mailbox.take()) { lead(followers, batch, core) }
            for (stores, followers) in dueStragglers() {
                for batch in CommitBatch.batches(of: [.unknown(stores)]) { lead(followers, batch, core, again: true) }
            }
        }
    }

    /// Leads those who read more than the rows that changed in one snapshot. The others share those rows, and let go of the snapshot at once:
    /// while one is held, a commit of LMDB beside a thousand lists took 1.7 times as long.
    private func lead(_ followers: [any CommitFollower], _ batch: CommitBatch, _ core: StackCore, again: Bool = false) {
        let followers = again ? followers : withoutStragglers(followers, batch.stores)
        let look = FollowerLook(batch: batch, sessions: SessionPool(readingFrom: core))
        defer { look.sessions.end() }
        var local: [any CommitFollower] = [], failures: Set<StorageError.Code> = []
        for follower in followers {
            if follower.isLocal { local.append(follower) } else { lead(follower, look, again: again, &failures) }
        }
        for follower in local {
            lead(follower, look, again: again, &failures)
            look.sessions.letGo()
        }
    }

    /// Leads one on. What cannot be done for it is not the affair of the others.
    ///
    /// - Parameters:
    ///   - follower: The publisher.
    ///   - look: What it looks at.
    ///   - again: Whether it was left behind.
    ///   - failures: What was reported of errors that many have at once, as where their store is out of reach.
    private func lead(
        _ follower: any CommitFollower, _ look: FollowerLook, again: Bool, _ failures: inout Set<StorageError.Code>
    ) {
        do throws(StorageError) { try follower.follow(look) } catch {
            if !error.isRetryable || failures.insert(error.code).inserted { try? reporting { () throws(StorageError) in throw error } }
            if error.isRetryable { return leaveBehind(follower, look.batch.stores) }
            follower.cannotFollow()
        }
        if again { stragglers.withLock { $0[ObjectIdentifier(follower)] = nil } }
    }

    // MARK: Stragglers

    /// Those that can be led on with a change of stores; the others have to look at them as a whole.
    private func withoutStragglers(_ followers: [any CommitFollower], _ stores: Set<Int>) -> [any CommitFollower] {
        stragglers.withLock { stragglers in
            if stragglers.isEmpty { return followers }
            return followers.filter { follower in
                let id = ObjectIdentifier(follower)
                if stragglers[id]?.follower !== follower { return true }
                stragglers[id]?.stores.formUnion(stores)
                return false
            }
        }
    }

    /// Those that are to be tried again now, by the stores that they have to look at.
    private func dueStragglers() -> [Set<Int>: [any CommitFollower]] {
        stragglers.withLock { stragglers in
            if stragglers.isEmpty { return [:] }
            let now = ContinuousClock.now
            stragglers = stragglers.filter { $0.value.follower != nil }
            let due = stragglers.values.filter { $0.next <= now }
            return Dictionary(grouping: due, by: \.stores).mapValues { $0.compactMap(\.follower) }
        }
    }

    private func leaveBehind(_ follower: any CommitFollower, _ stores: Set<Int>) {
        let pause = stragglers.withLock { stragglers in
            let id = ObjectIdentifier(follower)
            if stragglers[id]?.follower === follower {
                stragglers[id]?.failAgain()
            } else {
                stragglers[id] = Straggler(follower, stores)
            }
            return stragglers[id]?.pause ?? Straggler.shortestPause
        }
        wake(after: pause)
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
