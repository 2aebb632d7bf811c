internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// What is kept up to date with commits on the threads of a stack.
protocol CommitFollower: AnyObject, Sendable {
    /// Goes on to what commits made of it, and publishes that. All followers are led on in one snapshot.
    func follow(_ batch: CommitBatch, _ sessions: SessionPool) throws(StorageError)
}

/// Leads the publishers of a stack from commit to commit: one for all, so that a commit costs those who make it the same however many
/// there are.
final class PublisherCenter: CommitSubscriber {
    private static let pause = 1.0

    private struct State: Sendable {
        var followers: [Follower] = []
        var isWorking = false
        var isSignalled = false
    }

    private struct Follower: Sendable {
        weak var follower: (any CommitFollower)?
    }

    private let mailbox = CommitMailbox()
    private let state = Mutex(State())
    /// The stack, which holds the center.
    private let core: @Sendable () -> StackCore?

    init(_ core: @escaping @Sendable () -> StackCore?) { self.core = core }

    /// Leads a follower on from now on, for as long as it is alive.
    func add(_ follower: any CommitFollower) {
        state.withLock { state in
            state.followers.removeAll { $0.follower == nil }
            state.followers.append(Follower(follower: follower))
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
        if begins { core()?.workers.submit { [weak self] in self?.work() } }
    }

    private func work() {
        while let followers = nextRound() {
            guard let core = core() else { return }
            let commits = mailbox.take()
            do throws(StorageError) {
                try reporting { () throws(StorageError) in
                    for batch in CommitBatch.batches(of: commits) {
                        let sessions = SessionPool(readingFrom: core)
                        defer { sessions.end() }
                        for follower in followers { try follower.follow(batch, sessions) }
                    }
                }
            } catch {
                // It was reported; everything is read again when the store may answer.
                mailbox.putBack(commits.flatMap { $0.parts.map(\.store) })
                DispatchQueue.global().asyncAfter(deadline: .now() + Self.pause) { [weak self] in self?.wake() }
            }
        }
    }

    private func nextRound() -> [any CommitFollower]? {
        state.withLock { state in
            guard state.isSignalled else {
                state.isWorking = false
                return nil
            }
            state.isSignalled = false
            return state.followers.compactMap(\.follower)
        }
    }
}
