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
/// one store the one with the later ticket is never told first: it waits here, without a thread, until the earlier one has ended and was told.
/// Commits of others are read from the histories of the stores. A commit over several stores waits for each of them, and whatever comes after
/// it in one of them waits for it.
final class CommitHub: Sendable {
    /// The right of a commit to be told in its turn.
    struct Ticket: Sendable {
        fileprivate let number: Int
        /// Whether somebody observed when the commit began, so that its changes are to be collected.
        let isObserved: Bool
    }

    /// A commit that was not told yet.
    private struct Pending: Sendable {
        /// The number of its ticket; nil for one of others.
        let number: Int?
        let stores: Set<Int>
        /// What it has changed; nil until it has ended.
        var changes: CommittedChanges?
        /// The stores whose histories have come to it.
        var reached: Set<Int> = []

        func position(in store: Int) -> Int64? { changes?.parts.first { $0.store == store }?.token?.position }
    }

    private struct Subscriber: Sendable {
        weak var subscriber: (any CommitSubscriber)?
    }

    private struct State: Sendable {
        var subscribers: [Subscriber] = []
        /// Those that were not told, in the order in which they are to be.
        var pending: [Pending] = []
        var next = 0
        var waiting: [Waiting] = []
        /// How far the histories of the stores that others may change were read.
        var gates: [Int: HistoryGate] = [:]
    }

    /// What waits for commits.
    private struct Waiting: Sendable {
        var numbers: Set<Int>
        /// Whether it is enough that they have ended; otherwise they are to be told.
        let isForEnd: Bool
        let resume: @Sendable () -> Void
    }

    /// So many commits of others wait for one of this stack that waits for another store; the rest stays in the history meanwhile.
    private static let mostOfOthers = 1_000

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

    /// Tells a subscriber nothing more. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
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
    /// - Returns: The stores whose histories have to be looked into, so that the commits that have ended can be told, and those that were told
    ///   need not be remembered.
    func end(_ ticket: Ticket, _ changes: CommittedChanges?) -> Set<Int> {
        release { state in
            if let index = state.pending.firstIndex(where: { $0.number == ticket.number }) {
                if let changes { state.pending[index].changes = changes } else { state.pending.remove(at: index) }
            }
        }
    }

    /// Changes the state, tells the commits that can be told then, and resumes what has waited for them.
    ///
    /// - Returns: The stores whose histories commits wait for, and those whose histories are far behind them.
    @discardableResult
    private func release(_ body: (inout State) -> Void) -> Set<Int> {
        let (behind, resumed) = state.withLock { state in
            body(&state)
            return (deliverEnded(&state), resumeWaiting(&state))
        }
        for resume in resumed { resume() }
        return behind
    }

    /// Something was committed elsewhere that no history names.
    func publish(_ changes: CommittedChanges) { state.withLock { deliver(changes, $0) } }

    /// From now on the history of a store is told, beginning where `start` says.
    func follow(_ store: Int, isOrdered: Bool) { state.withLock { $0.gates[store] = HistoryGate(isOrdered: isOrdered) } }

    /// The history of a store is told from what is after a position on.
    func start(_ store: Int, after position: Int64) { state.withLock { $0.gates[store]?.start(after: position) } }

    /// How far the history of a store was read; nil where it is not followed.
    func position(_ store: Int) -> Int64? {
        state.withLock { state in state.gates[store].flatMap { $0.isStarting ? nil : $0.position } }
    }

    /// Whether more of the history of a store can be read: too much of it may wait for a commit that waits for another store.
    func hasRoom(_ store: Int) -> Bool {
        state.withLock { state in state.pending.count { $0.number == nil && $0.stores.contains(store) } < Self.mostOfOthers }
    }

    /// A commit to a store may have happened although the engine could not say so.
    func doubt(_ store: Int) { state.withLock { $0.gates[store]?.doubt() } }

    /// How often that was so.
    func doubts(_ store: Int) -> Int { state.withLock { $0.gates[store]?.doubts ?? 0 } }

    /// The history of a store was read to its end since there were so many doubts.
    func settle(_ store: Int, doubts: Int) { release { $0.gates[store]?.settle(doubts) } }

    /// Forgets a store.
    func unfollow(_ store: Int) { release { $0.gates[store] = nil } }

    /// Tells entries of the history of a store, except those that were told as commits of this stack.
    func advance(_ store: Int, _ entries: [HistoryEntry]) {
        release { state in
            for entry in entries {
                let position = entry.token.position, isNew = state.gates[store]?.pass(position) ?? false
                if let own = state.pending.firstIndex(where: { $0.position(in: store) == position }) {
                    state.pending[own].reached.insert(store)
                } else if isNew {
                    let part = CommittedChanges.Part(store: store, token: entry.token, changes: entry.changes)
                    insert(CommittedChanges([part], author: entry.author, isRemote: true), store, position, &state)
                }
            }
        }
    }

    /// Puts a commit of others behind those that come before it in its store's history, and before those that do not.
    private func insert(_ changes: CommittedChanges, _ store: Int, _ position: Int64, _ state: inout State) {
        let earlier = state.pending.lastIndex { $0.position(in: store).map { $0 < position } ?? false }
        let index = earlier.map { $0 + 1 } ?? state.pending.firstIndex { $0.stores.contains(store) } ?? state.pending.count
        state.pending.insert(Pending(number: nil, stores: [store], changes: changes, reached: [store]), at: index)
    }

    /// Goes on from a position of a history whose entries up to there are gone.
    func jump(_ store: Int, to position: Int64) {
        release { state in
            deliver(.unknown(store), state)
            state.gates[store]?.jump(to: position)
            // The history will not come to them any more.
            for index in state.pending.indices where state.pending[index].position(in: store) != nil {
                state.pending[index].reached.insert(store)
            }
        }
    }

    /// Calls `body` when every commit to a store that is in flight now has ended.
    func afterCommits(to store: Int, _ body: @escaping @Sendable () -> Void) {
        let isIdle = state.withLock { state in
            let left = Set(state.pending.filter { $0.changes == nil && $0.stores.contains(store) }.compactMap(\.number))
            if !left.isEmpty { state.waiting.append(Waiting(numbers: left, isForEnd: true, resume: body)) }
            return left.isEmpty
        }
        if isIdle { body() }
    }

    /// Waits until subscribers have every commit that has ended before the call, for some seconds at most.
    func waitForDelivery(atMost seconds: Double) { _ = undelivered()?.wait(timeout: .now() + seconds) }

    /// What is signalled when the commits that have ended were delivered; nil when they were.
    private func undelivered() -> DispatchSemaphore? {
        state.withLock { state in
            let ended = Set(state.pending.filter { $0.changes != nil }.compactMap(\.number))
            if ended.isEmpty { return nil }
            let delivered = DispatchSemaphore(value: 0)
            state.waiting.append(Waiting(numbers: ended, isForEnd: false) { delivered.signal() })
            return delivered
        }
    }

    // MARK: Telling

    /// What commits that were not told hold up.
    private struct Barrier {
        /// The stores of those that have not ended.
        var running: Set<Int> = []
        /// The least positions of those that have, by store; the least of all where one has none.
        var ended: [Int: Int64] = [:]

        /// Whether a commit has to wait for those before it. In one store that is so for those before it in the history, whatever the tickets say.
        func holds(_ pending: Pending) -> Bool {
            pending.stores.contains { store in
                // A commit of others comes before what has not ended.
                if pending.number != nil, running.contains(store) { return true }
                return ended[store].map { least in pending.position(in: store).map { least < $0 } ?? true } ?? false
            }
        }

        mutating func add(_ pending: Pending) {
            for store in pending.stores {
                if pending.changes == nil {
                    running.insert(store)
                } else {
                    ended[store] = min(ended[store] ?? .max, pending.position(in: store) ?? .min)
                }
            }
        }
    }

    private func deliverEnded(_ state: inout State) -> Set<Int> {
        var barrier = Barrier(), kept: [Pending] = [], behind: Set<Int> = []
        for pending in state.pending {
            if let changes = pending.changes {
                let awaited = awaited(pending, state)
                behind.formUnion(awaited)
                if awaited.isEmpty, !barrier.holds(pending) {
                    for part in changes.parts where !pending.reached.contains(part.store) {
                        if let token = part.token, state.gates[part.store]?.skip(token.position) == true { behind.insert(part.store) }
                    }
                    deliver(changes, state)
                    continue
                }
            }
            barrier.add(pending)
            kept.append(pending)
        }
        state.pending = kept
        return behind
    }

    /// The stores in whose histories something of others may come before a commit.
    private func awaited(_ pending: Pending, _ state: borrowing State) -> Set<Int> {
        var awaited: Set<Int> = []
        for store in pending.stores where !pending.reached.contains(store) {
            guard let gate = state.gates[store], let position = pending.position(in: store) else { continue }
            if !gate.admits(position) { awaited.insert(store) }
        }
        return awaited
    }

    private func deliver(_ changes: CommittedChanges, _ state: borrowing State) {
        for subscriber in state.subscribers { subscriber.subscriber?.receive(changes) }
    }

    private func resumeWaiting(_ state: inout State) -> [@Sendable () -> Void] {
        if state.waiting.isEmpty { return [] }
        let left = Set(state.pending.compactMap(\.number)), running = Set(state.pending.filter { $0.changes == nil }.compactMap(\.number))
        var resumed: [@Sendable () -> Void] = [], waiting: [Waiting] = []
        for var item in state.waiting {
            item.numbers.formIntersection(item.isForEnd ? running : left)
            if item.numbers.isEmpty { resumed.append(item.resume) } else { waiting.append(item) }
        }
        state.waiting = waiting
        return resumed
    }
}
