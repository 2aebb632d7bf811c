internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Who is told of commits. The call must be short: it may come while others wait to commit.
protocol CommitSubscriber: AnyObject, Sendable {
    func receive(_ changes: CommittedChanges)
}

/// Tells everybody who observes a stack what was committed, in an order that respects every dependency.
///
/// A commit takes a ticket before the engine makes it visible. Whoever has read what it wrote takes a later ticket, and of two commits in
/// one store the one with the later ticket is never told first: it waits here, without a thread, until the earlier one has ended.
final class CommitHub: Sendable {
    /// The right of a commit to be told in its turn.
    struct Ticket: Sendable {
        fileprivate let number: Int
        /// Whether somebody observed when the commit began, so that its changes are to be collected.
        let isObserved: Bool
    }

    private struct Pending: Sendable {
        let number: Int
        let stores: Set<Int>
        var hasEnded = false
        var changes: CommittedChanges?
    }

    private struct Subscriber: Sendable {
        weak var subscriber: (any CommitSubscriber)?
    }

    private struct State: Sendable {
        var subscribers: [Subscriber] = []
        var pending: [Pending] = []
        var next = 0
        var waiting: [Waiting] = []
        /// How far the histories of the stores that others may change were told.
        var gates: [Int: HistoryGate] = [:]
    }

    /// What waits until commits have ended and were delivered.
    private struct Waiting: Sendable {
        /// The numbers of commits that have not ended, or wait for those before them.
        var pending: Set<Int>
        /// Commits that wait for the history of their store.
        var deferred: Set<Deferred> = []
        let resume: @Sendable () -> Void
    }

    /// A commit of this stack that its history has not come to.
    private struct Deferred: Sendable, Hashable {
        let store: Int
        let position: Int64
    }

    private let state = Mutex(State())

    /// Whether anybody is told of commits.
    var isObserved: Bool { state.withLock { $0.subscribers.contains { $0.subscriber != nil } } }

    /// Tells a subscriber of every commit from now on, once each, for as long as it is alive.
    func subscribe(_ subscriber: any CommitSubscriber) {
        state.withLock { state in
            state.subscribers.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
            state.subscribers.append(Subscriber(subscriber: subscriber))
        }
    }

    /// Tells a subscriber nothing more. Not inlined into tasks: Decisions, "No lock is inlined where a task waits".
    @inline(never) func unsubscribe(_ subscriber: any CommitSubscriber) {
        state.withLock { state in state.subscribers.removeAll { $0.subscriber == nil || $0.subscriber === subscriber } }
    }

    /// A commit to some stores is about to be made.
    func begin(_ stores: some Sequence<Int>) -> Ticket {
        state.withLock { state in
            state.next += 1
            state.pending.append(Pending(number: state.next, stores: Set(stores)))
            return Ticket(number: state.next, isObserved: state.subscribers.contains { $0.subscriber != nil })
        }
    }

    /// A commit has ended; nil where it failed or changed nothing.
    ///
    /// - Returns: The stores whose histories have to be looked into before the commit can be told.
    func end(_ ticket: Ticket, _ changes: CommittedChanges?) -> Set<Int> {
        release { state in
            if let index = state.pending.firstIndex(where: { $0.number == ticket.number }) {
                state.pending[index].hasEnded = true
                state.pending[index].changes = changes
            }
            return deliverEnded(&state)
        }
    }

    /// Changes the state, and then resumes what has waited for the commits that were delivered by it.
    @discardableResult
    private func release<R: Sendable>(_ body: (inout State) -> R) -> R {
        let (result, resumed) = state.withLock { state in
            let result = body(&state)
            return (result, resumeWaiting(&state))
        }
        for resume in resumed { resume() }
        return result
    }

    /// Something was committed elsewhere that no history names.
    func publish(_ changes: CommittedChanges) { state.withLock { deliver(changes, $0) } }

    /// From now on the history of a store is told, beginning where `start` says.
    func follow(_ store: Int, isOrdered: Bool) { state.withLock { $0.gates[store] = HistoryGate(isOrdered: isOrdered) } }

    /// The history of a store is told from what is after a position on.
    func start(_ store: Int, after position: Int64) { state.withLock { $0.gates[store]?.start(after: position) } }

    /// How far the history of a store was told; nil where it is not followed.
    func position(_ store: Int) -> Int64? {
        state.withLock { state in state.gates[store].flatMap { $0.isStarting ? nil : $0.position } }
    }

    /// A commit to a store may have happened although the engine could not say so.
    func doubt(_ store: Int) { state.withLock { $0.gates[store]?.doubt() } }

    /// How often that was so.
    func doubts(_ store: Int) -> Int { state.withLock { $0.gates[store]?.doubts ?? 0 } }

    /// The history of a store was told to its end since there were so many doubts.
    func settle(_ store: Int, doubts: Int) {
        release { state in for commit in state.gates[store]?.settle(doubts) ?? [] { deliver(commit, state) } }
    }

    /// Forgets a store.
    func unfollow(_ store: Int) {
        release { state in for commit in state.gates.removeValue(forKey: store)?.left ?? [] { deliver(commit, state) } }
    }

    /// Tells entries of the history of a store, except those that were told as commits of this stack.
    func advance(_ store: Int, _ entries: [HistoryEntry]) {
        release { state in
            for entry in entries { if let commit = state.gates[store]?.pass(entry, store) { deliver(commit, state) } }
        }
    }

    /// Goes on from a position of a history whose entries up to there are gone.
    func jump(_ store: Int, to position: Int64) {
        release { state in
            deliver(.unknown(store), state)
            for commit in state.gates[store]?.jump(to: position) ?? [] { deliver(commit, state) }
        }
    }

    /// Calls `body` when every commit to a store that is in flight now has ended and was told, or waits for the history.
    func afterCommits(to store: Int, _ body: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            let left = Set(state.pending.filter { $0.stores.contains(store) }.map(\.number))
            if !left.isEmpty { state.waiting.append(Waiting(pending: left, resume: body)) }
            return left.isEmpty
        }
        if isIdle { body() }
    }

    /// Waits until subscribers have every commit that has ended before the call, for some seconds at most.
    func waitForDelivery(atMost seconds: Double) {
        let end = DispatchTime.now() + seconds
        // What has waited for an earlier commit may have to wait for the history then.
        while let delivered = undelivered(), delivered.wait(timeout: end) == .success {}
    }

    /// What is signalled when the commits that have ended were delivered; nil when they were.
    private func undelivered() -> DispatchSemaphore? {
        state.withLock { state in
            let pending = Set(state.pending.filter(\.hasEnded).map(\.number))
            let deferred = Self.deferred(state)
            if pending.isEmpty && deferred.isEmpty { return nil }
            let delivered = DispatchSemaphore(value: 0)
            state.waiting.append(Waiting(pending: pending, deferred: deferred) { delivered.signal() })
            return delivered
        }
    }

    private static func deferred(_ state: borrowing State) -> Set<Deferred> {
        var result: Set<Deferred> = []
        for (store, gate) in state.gates {
            for position in gate.deferredPositions { result.insert(Deferred(store: store, position: position)) }
        }
        return result
    }

    private func deliverEnded(_ state: inout State) -> Set<Int> {
        var blocked: Set<Int> = [], kept: [Pending] = [], behind: Set<Int> = []
        for pending in state.pending {
            if pending.hasEnded, blocked.isDisjoint(with: pending.stores) {
                if let changes = pending.changes {
                    let gaps = admit(changes, &state)
                    if gaps.isEmpty { deliver(changes, state) }
                    behind.formUnion(gaps)
                }
            } else {
                blocked.formUnion(pending.stores)
                kept.append(pending)
            }
        }
        state.pending = kept
        return behind
    }

    /// The store in whose history something of others comes first; the commit waits for one only.
    private func admit(_ changes: CommittedChanges, _ state: inout State) -> Set<Int> {
        var behind: Set<Int> = []
        for part in changes.parts {
            guard let token = part.token, state.gates[part.store] != nil else { continue }
            if behind.isEmpty {
                if state.gates[part.store]?.admit(changes, at: token.position) == false { behind.insert(part.store) }
            } else {
                // Told together with the part that waits.
                state.gates[part.store]?.skip(token.position)
            }
        }
        return behind
    }

    private func deliver(_ changes: CommittedChanges, _ state: borrowing State) {
        for subscriber in state.subscribers { subscriber.subscriber?.receive(changes) }
    }

    private func resumeWaiting(_ state: inout State) -> [@Sendable () -> Void] {
        if state.waiting.isEmpty { return [] }
        let pending = Set(state.pending.map(\.number)), deferred = Self.deferred(state)
        var resumed: [@Sendable () -> Void] = [], left: [Waiting] = []
        for var item in state.waiting {
            item.pending.formIntersection(pending)
            item.deferred.formIntersection(deferred)
            if item.pending.isEmpty && item.deferred.isEmpty { resumed.append(item.resume) } else { left.append(item) }
        }
        state.waiting = left
        return resumed
    }
}
