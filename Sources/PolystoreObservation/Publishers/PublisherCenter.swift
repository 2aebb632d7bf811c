internal import PolystoreFoundation
internal import PolystoreObjects
internal import Synchronization

/// Updates the publishers of a stack with each commit. It is one component for all, so that the cost of a commit for its writer does not
/// depend on the number of publishers.
///
/// A publisher that cannot be updated, for example because its store does not respond, becomes a straggler: it is retried separately, with
/// increasing pauses, and the others continue.
final class PublisherCenter: CommitSubscriber {
    private struct State: Sendable {
        var isWorking = false
        var isSignalled = false
        /// Whether the stack was shut down, so that the publishers end after what they have received.
        var isEnding = false
    }

    private struct Follower: Sendable {
        weak var follower: (any CommitFollower)?
    }

    /// A follower that could not be updated.
    private struct Straggler: Sendable {
        static let shortestPause = 1.0
        static let longestPause = 5.0

        weak var follower: (any CommitFollower)?
        /// The stores with changes unknown to it.
        var stores: Set<Int>
        /// Seconds until the next retry.
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
    /// Protected by its own lock: traversing a thousand followers takes longer than a commit, which must not wait for it.
    private let followers = Mutex<[Follower]>([])
    /// The followers that could not be updated.
    private let stragglers = Mutex<[ObjectIdentifier: Straggler]>([:])
    /// The stack, which retains the center.
    private let core: @Sendable () -> StackCore?

    init(_ core: @escaping @Sendable () -> StackCore?) { self.core = core }

    /// Keeps a follower up to date from now on, while it is alive.
    func add(_ follower: any CommitFollower) {
        followers.withLock { followers in
            followers.removeAll { $0.follower == nil }
            followers.append(Follower(follower: follower))
        }
        // After the addition, so that either this or the end of the others finds it.
        if isEnding { follower.finish() }
    }

    private var isEnding: Bool { state.withLock { $0.isEnding } }

    func receive(_ changes: CommittedChanges) {
        mailbox.receive(changes)
        wake()
    }

    func didReceiveAll() {
        state.withLock { $0.isEnding = true }
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
            // Before the commits are taken, so that the last ones are among them.
            let isLast = isEnding
            for batch in CommitBatch.batches(of: mailbox.take()) { lead(followers, batch, core) }
            for (stores, followers) in dueStragglers() {
                for batch in CommitBatch.batches(of: [.unknown(stores)]) { lead(followers, batch, core, again: true) }
            }
            if isLast { for follower in self.followers.withLock({ $0.compactMap(\.follower) }) { follower.finish() } }
        }
    }

    /// Updates the followers that read more than the changed rows in one snapshot. The others share those rows, and release the snapshot
    /// immediately: while one was held, a commit of LMDB beside a thousand lists took 1.7 times as long.
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

    /// Updates one follower. Its failure does not affect the others.
    ///
    /// - Parameters:
    ///   - follower: The publisher.
    ///   - look: The commits and snapshots.
    ///   - again: Whether it is a straggler.
    ///   - failures: The reported codes of errors that many followers have at once, for example if their store is unavailable.
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

    /// Returns the followers that can be updated with a change of stores. The others must read the stores completely.
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

    /// Returns the stragglers to retry now, by the stores that they must read.
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

    /// Returns whether there was a signal since the last round began. Otherwise the work ends.
    private func beginRound() -> Bool {
        state.withLock { state in
            state.isWorking = state.isSignalled
            state.isSignalled = false
            return state.isWorking
        }
    }
}

extension StackCore {
    /// The component that updates publishers after each commit.
    var publishers: PublisherCenter { component { stack in PublisherCenter { [weak stack] in stack } } }
}
