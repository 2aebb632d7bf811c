internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The state of commits over several stores: the changes that leaders no longer need to keep, the stores that may have prepared
/// transactions, and the gate that prevents readers from seeing a part of a joint commit.
final class JointCommits: Sendable {
    /// A part of a commit that a follower has applied, so that its leader need not keep it.
    struct Confirmed: Sendable, Hashable {
        let peer: Peer
        let follower: UUID
    }

    private struct State: Sendable {
        var confirmed: [Int: [Confirmed]] = [:]
        var prepared: Set<Int> = []
        /// Leaders whose last joint commit is in doubt, each with the number of the doubt. The entry remains if the store is removed and
        /// added again.
        var doubts: [UUID: Int] = [:]
        var lastDoubt = 0
        /// Stores that may lack records of their leaders.
        var lacking: Set<Int> = []
        /// The number of running joint commits, and of openings of read sessions, by store.
        var committing: [Int: Int] = [:]
        var opening: [Int: Int] = [:]
        /// The waiting commits. Openings let them proceed first, so that commits cannot starve.
        var wanting: [Int: Int] = [:]
        /// The number of completed joint commits, by their stores.
        var ended: [Set<Int>: Int] = [:]
        var waiting: [DispatchSemaphore] = []

        mutating func wake() {
            for semaphore in waiting { semaphore.signal() }
            waiting.removeAll()
        }
    }

    private let state = Mutex(State())

    // MARK: Changes that leaders keep

    /// Records that a follower has the changes that its leader keeps for it.
    @inline(never) func confirm(_ peer: Peer, of follower: UUID, by leader: Int) {
        state.withLock { state in
            state.confirmed[leader, default: []].removeAll { $0.follower == follower }
            state.confirmed[leader, default: []].append(Confirmed(peer: peer, follower: follower))
        }
    }

    /// Whether a store keeps changes that the followers have already applied.
    @inline(never) func hasConfirmed(_ leader: Int) -> Bool { state.withLock { !($0.confirmed[leader] ?? []).isEmpty } }

    /// Drops these changes in a transaction of the store.
    ///
    /// - Returns: The dropped changes. They remain stored until the transaction commits.
    @inline(never) func dropConfirmed(_ leader: Int, _ writer: WriteSession) throws(StorageError) -> [Confirmed] {
        let confirmed = state.withLock { $0.confirmed[leader] } ?? []
        for item in confirmed { try Peers.drop(for: item.follower, confirmed: item.peer, writer) }
        return confirmed
    }

    /// Records the commit of the transaction in which a store dropped confirmed changes.
    @inline(never) func didDrop(_ dropped: [Confirmed], _ leader: Int) {
        if dropped.isEmpty { return }
        state.withLock { state in
            let left = (state.confirmed[leader] ?? []).filter { !dropped.contains($0) }
            state.confirmed[leader] = left.isEmpty ? nil : left
        }
    }

    // MARK: Doubt

    /// The leaders whose last joint commit is in doubt. Neither they nor their followers are written to before the commit is decided.
    var doubtful: Set<UUID> { @inline(never) get { state.withLock { Set($0.doubts.keys) } } }

    /// Records that the last commit of a leader is in doubt.
    @inline(never) func doubt(_ leader: UUID) {
        state.withLock { state in
            state.lastDoubt += 1
            state.doubts[leader] = state.lastDoubt
        }
    }

    /// Returns the number of the doubt about a leader, or nil if there is none.
    @inline(never) func doubt(about leader: UUID) -> Int? { state.withLock { $0.doubts[leader] } }

    /// Records that a doubt was resolved, unless a later one was recorded.
    @inline(never) func settle(_ doubt: Int?, of leader: UUID) {
        state.withLock { state in if state.doubts[leader] == doubt { state.doubts[leader] = nil } }
    }

    // MARK: Stores that may lack records of leaders

    /// Whether a store may lack the record of a leader in the stack, which must be checked before a write to the store.
    @inline(never) func mayLackPeers(_ store: Int) -> Bool { state.withLock { $0.lacking.contains(store) } }

    @inline(never) func setMayLackPeers(_ store: Int, _ mayLack: Bool) {
        state.withLock { state in
            if mayLack { state.lacking.insert(store) } else { state.lacking.remove(store) }
        }
    }

    // MARK: Prepared transactions

    /// Whether a store may have prepared transactions that have not ended.
    @inline(never) func mayBePrepared(_ store: Int) -> Bool { state.withLock { $0.prepared.contains(store) } }

    @inline(never) func setMayBePrepared(_ store: Int, _ mayBe: Bool) {
        state.withLock { state in
            if mayBe { state.prepared.insert(store) } else { state.prepared.remove(store) }
        }
    }

    // MARK: The gate

    /// Runs the commits of several stores while no session is opened that reads more than one of them.
    ///
    /// - Throws: `timeout`, `cancelled` or `busy` if sessions are not opened in time. In that case nothing was run.
    func commit<R>(_ stores: Set<Int>, _ limit: WorkLimit?, _ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        if stores.count < 2 { return try body() }
        change { Self.add(1, to: &$0.wanting, stores) }
        let isFree = wait(limit) { state in
            if !stores.isDisjoint(with: state.opening.keys) { return false }
            Self.add(1, to: &state.committing, stores)
            Self.add(-1, to: &state.wanting, stores)
            return true
        }
        if !isFree {
            change { Self.add(-1, to: &$0.wanting, stores) }
            try limit?.check()
            throw StorageError(.busy, "timed out waiting for sessions that read several stores; nothing was written; try again")
        }
        defer {
            change { state in
                state.ended[stores, default: 0] += 1
                Self.add(-1, to: &state.committing, stores)
            }
        }
        return try body()
    }

    /// Opens sessions that read several stores, without blocking commits: opening may take long if a server's connections are in use.
    ///
    /// - Returns: Whether no joint commit to one of the stores happened in between. If one did, the sessions may show states of different
    ///   times.
    func openUndisturbed(_ stores: Set<Int>, _ body: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
        let start = mark
        if isCommitting(stores) { return false }
        try body()
        // The order matters: a commit that ends meanwhile is either still running or has ended.
        return !isCommitting(stores) && !hasCommitted(over: stores, and: stores, since: start)
    }

    @inline(never) private func isCommitting(_ stores: Set<Int>) -> Bool {
        state.withLock { !stores.isDisjoint(with: $0.committing.keys) }
    }

    /// Opens sessions that read several stores while no joint commit of one of them is running.
    ///
    /// - Throws: `busy` if a commit does not end in time.
    func open(_ stores: Set<Int>, _ limit: WorkLimit?, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        if stores.count < 2 { return try body() }
        let isOpened = wait(limit) { state in
            if !stores.isDisjoint(with: state.committing.keys) || !stores.isDisjoint(with: state.wanting.keys) { return false }
            Self.add(1, to: &state.opening, stores)
            return true
        }
        if !isOpened {
            try limit?.check()
            throw StorageError(.busy, "timed out waiting for a commit over the stores to be read; try again")
        }
        defer { change { Self.add(-1, to: &$0.opening, stores) } }
        try body()
    }

    /// The completed joint commits at one point, for a later comparison.
    struct Mark: Sendable {
        fileprivate let ended: [Set<Int>: Int]
    }

    var mark: Mark { @inline(never) get { state.withLock { Mark(ended: $0.ended) } } }

    /// Whether a joint commit over a store of one set and a store of another set has ended since a mark.
    @inline(never) func hasCommitted(over stores: Set<Int>, and others: Set<Int>, since mark: Mark) -> Bool {
        state.withLock { state in
            state.ended.contains { key, count in
                count != mark.ended[key] && !key.isDisjoint(with: stores) && !key.isDisjoint(with: others)
            }
        }
    }

    /// The maximum time in seconds for which a commit or a removal waits for others.
    static let patience: TimeInterval = 30

    private static func add(_ number: Int, to counts: inout [Int: Int], _ stores: Set<Int>) {
        for store in stores {
            let count = (counts[store] ?? 0) + number
            counts[store] = count == 0 ? nil : count
        }
    }

    @inline(never) private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.wake()
        }
    }

    /// Waits until `take` returns true.
    ///
    /// - Returns: False if the limit or `patience` has expired.
    @inline(never)
    private func wait(_ limit: WorkLimit?, _ take: (inout State) -> Bool) -> Bool {
        let deadline = limit?.dispatchTime(atMost: Self.patience) ?? .now() + Self.patience
        while true {
            let semaphore = state.withLock { state -> DispatchSemaphore? in
                if take(&state) { return nil }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiting.append(semaphore)
                return semaphore
            }
            guard let semaphore else { return true }
            let number = limit?.onEnd { semaphore.signal() }
            let isOver = semaphore.wait(timeout: deadline) == .timedOut
            if let number { limit?.removeInterrupt(number) }
            if isOver || limit?.hasEnded == true { return false }
        }
    }
}
