internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// What a stack knows of commits over several stores: what their leaders need not keep any more, where transactions may be prepared, and the
/// gate by which nobody sees half of one.
final class JointCommits: Sendable {
    /// A part of a commit that a follower has, so that its leader need not keep it.
    struct Confirmed: Sendable, Hashable {
        let peer: Peer
        let follower: UUID
    }

    private struct State: Sendable {
        var confirmed: [Int: [Confirmed]] = [:]
        var prepared: Set<Int> = []
        /// Leaders whose last commit over several stores is in doubt, each with the number of the doubt. A store has it also when it was
        /// removed and came again.
        var doubts: [UUID: Int] = [:]
        var lastDoubt = 0
        /// Stores that may have leaders that they know nothing of.
        var lacking: Set<Int> = []
        /// How often stores are in the midst of a joint commit, and of the opening of sessions that read.
        var committing: [Int: Int] = [:]
        var opening: [Int: Int] = [:]
        /// Commits that wait: openings let them go first, so that they cannot be kept waiting for ever.
        var wanting: [Int: Int] = [:]
        /// How many joint commits have ended, by their stores.
        var ended: [Set<Int>: Int] = [:]
        var waiting: [DispatchSemaphore] = []

        mutating func wake() {
            for semaphore in waiting { semaphore.signal() }
            waiting.removeAll()
        }
    }

    private let state = Mutex(State())

    // MARK: What leaders keep

    /// Notes that a follower has the changes that its leader keeps for it.
    @inline(never) func confirm(_ peer: Peer, of follower: UUID, by leader: Int) {
        state.withLock { state in
            state.confirmed[leader, default: []].removeAll { $0.follower == follower }
            state.confirmed[leader, default: []].append(Confirmed(peer: peer, follower: follower))
        }
    }

    /// Whether a store keeps changes that others have.
    @inline(never) func hasConfirmed(_ leader: Int) -> Bool { state.withLock { !($0.confirmed[leader] ?? []).isEmpty } }

    /// Drops them, in a transaction of the store.
    ///
    /// - Returns: What was dropped: it is there again until the transaction has committed.
    @inline(never) func dropConfirmed(_ leader: Int, _ writer: WriteSession) throws(StorageError) -> [Confirmed] {
        let confirmed = state.withLock { $0.confirmed[leader] } ?? []
        for item in confirmed { try Peers.drop(for: item.follower, confirmed: item.peer, writer) }
        return confirmed
    }

    /// The transaction has committed in which a store dropped what others have.
    @inline(never) func didDrop(_ dropped: [Confirmed], _ leader: Int) {
        if dropped.isEmpty { return }
        state.withLock { state in
            let left = (state.confirmed[leader] ?? []).filter { !dropped.contains($0) }
            state.confirmed[leader] = left.isEmpty ? nil : left
        }
    }

    // MARK: Doubt

    /// The leaders whose last commit over several stores is in doubt: neither they nor their followers are written to before it is decided.
    var doubtful: Set<UUID> { @inline(never) get { state.withLock { Set($0.doubts.keys) } } }

    /// Notes that the last commit of a leader is in doubt.
    @inline(never) func doubt(_ leader: UUID) {
        state.withLock { state in
            state.lastDoubt += 1
            state.doubts[leader] = state.lastDoubt
        }
    }

    /// The number of the doubt about a leader; nil for none.
    @inline(never) func doubt(about leader: UUID) -> Int? { state.withLock { $0.doubts[leader] } }

    /// Notes that a doubt is over, unless a later one has come.
    @inline(never) func settle(_ doubt: Int?, of leader: UUID) {
        state.withLock { state in if state.doubts[leader] == doubt { state.doubts[leader] = nil } }
    }

    // MARK: Leaders that a store may not know

    /// Whether a store may have a leader of the stack that it knows nothing of, so that one has to look before it is written to.
    @inline(never) func mayLackPeers(_ store: Int) -> Bool { state.withLock { $0.lacking.contains(store) } }

    @inline(never) func setMayLackPeers(_ store: Int, _ mayLack: Bool) {
        state.withLock { state in
            if mayLack { state.lacking.insert(store) } else { state.lacking.remove(store) }
        }
    }

    // MARK: Prepared transactions

    /// Whether a store may have transactions that were prepared and have not ended.
    @inline(never) func mayBePrepared(_ store: Int) -> Bool { state.withLock { $0.prepared.contains(store) } }

    @inline(never) func setMayBePrepared(_ store: Int, _ mayBe: Bool) {
        state.withLock { state in
            if mayBe { state.prepared.insert(store) } else { state.prepared.remove(store) }
        }
    }

    // MARK: The gate

    /// Runs the commits of several stores while no session is opened that reads more than one of them.
    ///
    /// - Throws: `timeout`, `cancelled` or `busy` when sessions are not opened in time; nothing was run then.
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
            throw StorageError(.busy, "sessions that read several stores were not opened in time; nothing was written; try again")
        }
        defer {
            change { state in
                state.ended[stores, default: 0] += 1
                Self.add(-1, to: &state.committing, stores)
            }
        }
        return try body()
    }

    /// Waits until a store is not in the midst of a joint commit, as long as such a wait is of use.
    @inline(never) func awaitCommit(of store: Int) { wait(nil) { $0.committing[store] == nil } }

    /// Opens sessions that read several stores, and no commit waits for that: it may take long where a server's connections are in use.
    ///
    /// - Returns: Whether no joint commit to one of them came in between; if one did, the sessions may be of different moments.
    func openUndisturbed(_ stores: Set<Int>, _ body: () throws(StorageError) -> Void) throws(StorageError) -> Bool {
        let start = mark
        if isCommitting(stores) { return false }
        try body()
        // In this order: a commit that ends meanwhile is either under way or has ended.
        return !isCommitting(stores) && !hasCommitted(over: stores, and: stores, since: start)
    }

    @inline(never) private func isCommitting(_ stores: Set<Int>) -> Bool {
        state.withLock { !stores.isDisjoint(with: $0.committing.keys) }
    }

    /// Opens sessions that read several stores while none of them is in the midst of a joint commit.
    ///
    /// - Throws: `busy` when a commit does not end in time.
    func open(_ stores: Set<Int>, _ limit: WorkLimit?, _ body: () throws(StorageError) -> Void) throws(StorageError) {
        if stores.count < 2 { return try body() }
        let isOpened = wait(limit) { state in
            if !stores.isDisjoint(with: state.committing.keys) || !stores.isDisjoint(with: state.wanting.keys) { return false }
            Self.add(1, to: &state.opening, stores)
            return true
        }
        if !isOpened {
            try limit?.check()
            throw StorageError(.busy, "a commit over several stores that are to be read together did not end in time; try again")
        }
        defer { change { Self.add(-1, to: &$0.opening, stores) } }
        try body()
    }

    /// The joint commits that have ended, as a point to compare with.
    struct Mark: Sendable {
        fileprivate let ended: [Set<Int>: Int]
    }

    var mark: Mark { @inline(never) get { state.withLock { Mark(ended: $0.ended) } } }

    /// Whether a joint commit over one of some stores and one of others has ended since a mark.
    @inline(never) func hasCommitted(over stores: Set<Int>, and others: Set<Int>, since mark: Mark) -> Bool {
        state.withLock { state in
            state.ended.contains { key, count in
                count != mark.ended[key] && !key.isDisjoint(with: stores) && !key.isDisjoint(with: others)
            }
        }
    }

    private static let patience: TimeInterval = 30

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

    /// Waits until `take` says that it has what it wants.
    ///
    /// - Returns: False when the limit has ended, or the patience.
    @discardableResult @inline(never)
    private func wait(_ limit: WorkLimit?, _ take: (inout State) -> Bool) -> Bool {
        let deadline = DispatchTime.now() + min(limit?.secondsLeft ?? Self.patience, Self.patience)
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
