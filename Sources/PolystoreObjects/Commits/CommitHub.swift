internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// Delivers committed changes to the subscribers of a stack, in an order that respects every dependency.
///
/// A commit takes a ticket before the engine makes it visible. A transaction that has read its changes takes a later ticket, and of two
/// commits in one store the one with the later ticket is never delivered first: it waits here, without a thread, until the earlier one has
/// ended and was delivered. Commits made outside this stack are read from the histories of the stores. A commit over several stores waits
/// for each of them, and later commits in one of them wait for it.
final class CommitHub: Sendable {
    /// The position of a commit in the order of delivery.
    struct Ticket: Sendable {
        fileprivate let number: Int
        /// Whether there was a subscriber when the commit began, so that its changes must be collected.
        let isObserved: Bool
    }

    /// A commit that was not yet delivered.
    private struct Pending: Sendable {
        /// The number of its ticket; nil for a commit made outside this stack.
        let number: Int?
        let stores: Set<Int>
        /// Its changes; nil until it has ended.
        var changes: CommittedChanges?
        /// The stores whose histories were read up to this commit.
        var reached: Set<Int> = []

        func position(in store: Int) -> Int64? { changes?.parts.first { $0.store == store }?.token?.position }
    }

    private struct Subscriber: Sendable {
        weak var subscriber: (any CommitSubscriber)?
    }

    private struct State: Sendable {
        var subscribers: [Subscriber] = []
        /// The commits that were not yet delivered, in the order of delivery.
        var pending: [Pending] = []
        var next = 0
        var waiting: [Waiting] = []
        /// The read positions in the histories of the stores that other processes may change.
        var gates: [Int: HistoryGate] = [:]
        /// Whether the stack was shut down.
        var isFinished = false
    }

    /// A closure that waits for commits.
    private struct Waiting: Sendable {
        var numbers: Set<Int>
        /// Whether the end of the commits is sufficient. Otherwise the closure waits for their delivery.
        let isForEnd: Bool
        let resume: @Sendable () -> Void
    }

    /// The maximum number of commits made outside this stack that wait for one of this stack which waits for another store. The rest stays
    /// in the history meanwhile.
    private static let mostOfOthers = 1_000

    private let state = Mutex(State())

    /// Whether there are subscribers.
    var isObserved: Bool { state.withLock { $0.subscribers.contains { $0.subscriber != nil } } }

    /// Delivers every commit from now on to a subscriber, once each, while the subscriber is alive.
    func subscribe(_ subscriber: any CommitSubscriber) {
        let isFinished = state.withLock { state in
            state.subscribers.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
            state.subscribers.append(Subscriber(subscriber: subscriber))
            return state.isFinished
        }
        if isFinished { subscriber.didReceiveAll() }
    }

    /// Tells present and future subscribers that no commit will follow, after the last store was removed for good.
    func finish() {
        let subscribers = state.withLock { state in
            state.isFinished = true
            return state.subscribers.compactMap(\.subscriber)
        }
        for subscriber in subscribers { subscriber.didReceiveAll() }
    }

    /// Ends the delivery to a subscriber. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never) func unsubscribe(_ subscriber: any CommitSubscriber) {
        state.withLock { state in state.subscribers.removeAll { $0.subscriber == nil || $0.subscriber === subscriber } }
    }

    /// Takes a ticket for a commit to some stores, before the commit begins.
    func begin(_ stores: some Sequence<Int>) -> Ticket {
        state.withLock { state in
            state.next += 1
            state.pending.append(Pending(number: state.next, stores: Set(stores)))
            return Ticket(number: state.next, isObserved: state.subscribers.contains { $0.subscriber != nil })
        }
    }

    /// Ends a commit. The changes are nil if it failed or changed nothing.
    ///
    /// - Returns: The stores whose histories must be read, so that commits that have ended can be delivered, and the positions of delivered
    ///   ones need not be stored.
    func end(_ ticket: Ticket, _ changes: CommittedChanges?) -> Set<Int> {
        release { state in
            if let index = state.pending.firstIndex(where: { $0.number == ticket.number }) {
                if let changes { state.pending[index].changes = changes } else { state.pending.remove(at: index) }
            }
        }
    }

    /// Changes the state, delivers the commits that are then ready, and resumes the closures that wait for them.
    ///
    /// - Returns: The stores whose histories commits wait for, and those whose histories must be read because too many delivered commits
    ///   are ahead of them.
    @discardableResult
    private func release(_ body: (inout State) -> Void) -> Set<Int> {
        let (behind, resumed) = state.withLock { state in
            body(&state)
            return (deliverEnded(&state), resumeWaiting(&state))
        }
        for resume in resumed { resume() }
        return behind
    }

    /// Delivers a change that was made outside this stack and that no history contains.
    func publish(_ changes: CommittedChanges) { state.withLock { deliver(changes, $0) } }

    /// Follows the history of a store, from the position given by `start`.
    func follow(_ store: Int, isOrdered: Bool) { state.withLock { $0.gates[store] = HistoryGate(isOrdered: isOrdered) } }

    /// Starts the delivery of the history of a store after a position.
    func start(_ store: Int, after position: Int64) { state.withLock { $0.gates[store]?.start(after: position) } }

    /// Returns the position up to which the history of a store was read; nil if it is not followed.
    func position(_ store: Int) -> Int64? {
        state.withLock { state in state.gates[store].flatMap { $0.isStarting ? nil : $0.position } }
    }

    /// Returns whether more of the history of a store can be read. The limit applies to commits that wait for one that waits for another
    /// store.
    func hasRoom(_ store: Int) -> Bool {
        state.withLock { state in state.pending.count { $0.number == nil && $0.stores.contains(store) } < Self.mostOfOthers }
    }

    /// Records that a commit to a store is in doubt.
    func doubt(_ store: Int) { state.withLock { $0.gates[store]?.doubt() } }

    /// Returns how many commits to a store have been in doubt.
    func doubts(_ store: Int) -> Int { state.withLock { $0.gates[store]?.doubts ?? 0 } }

    /// Records that the history of a store was read to its end after this number of commits in doubt.
    func settle(_ store: Int, doubts: Int) { release { $0.gates[store]?.settle(doubts) } }

    /// Stops following a store.
    func unfollow(_ store: Int) { release { $0.gates[store] = nil } }

    /// Delivers entries of the history of a store, except those that were delivered as commits of this stack.
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

    /// Inserts a commit made outside this stack after those that precede it in the history of its store, and before the others.
    private func insert(_ changes: CommittedChanges, _ store: Int, _ position: Int64, _ state: inout State) {
        let earlier = state.pending.lastIndex { $0.position(in: store).map { $0 < position } ?? false }
        let index = earlier.map { $0 + 1 } ?? state.pending.firstIndex { $0.stores.contains(store) } ?? state.pending.count
        state.pending.insert(Pending(number: nil, stores: [store], changes: changes, reached: [store]), at: index)
    }

    /// Continues from a position of a history whose entries up to there were removed.
    func jump(_ store: Int, to position: Int64) {
        release { state in
            deliver(.unknown(store), state)
            state.gates[store]?.jump(to: position)
            // The history no longer contains them.
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

    /// Waits until subscribers have received every commit that ended before the call, for at most the given number of seconds.
    func waitForDelivery(atMost seconds: Double) { _ = undelivered()?.wait(timeout: .now() + seconds) }

    /// Returns a semaphore that is signalled when the commits that have ended were delivered; nil if they were.
    private func undelivered() -> DispatchSemaphore? {
        state.withLock { state in
            let ended = Set(state.pending.filter { $0.changes != nil }.compactMap(\.number))
            if ended.isEmpty { return nil }
            let delivered = DispatchSemaphore(value: 0)
            state.waiting.append(Waiting(numbers: ended, isForEnd: false) { delivered.signal() })
            return delivered
        }
    }

    // MARK: Delivery

    /// The commits that block later ones because they were not delivered.
    private struct Barrier {
        /// The stores of the commits that have not ended.
        var running: Set<Int> = []
        /// The smallest positions of those that have ended, by store; the minimum of all integers if one has none.
        var ended: [Int: Int64] = [:]

        /// Returns whether a commit must wait for those before it. In one store it waits for those before it in the history, regardless of
        /// the tickets.
        func holds(_ pending: Pending) -> Bool {
            pending.stores.contains { store in
                // A commit made outside this stack precedes commits that have not ended.
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

    /// Returns the stores in whose histories a commit made outside this stack may precede a commit.
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
