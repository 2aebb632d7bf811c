internal import PolystoreFoundation
internal import PolystoreStorage

/// The commit of a transaction in one store, or atomically in several stores: all of them have the transaction afterwards, or receive it
/// before the next write to them.
///
/// 1. Each server except the first store performs all parts of its commit except the commit itself (`prepare`), on behalf of the commit of
///    the first store.
/// 2. The first store, the leader, stores the changes of each following file, and announces its commit so that the others can request its
///    outcome.
/// 3. The leader commits. Its commit decides for all stores.
/// 4. The prepared transactions end in the same way as the leader's commit, then the files commit, then the stores in memory.
///
/// If a program exits after step 3, the other stores receive their parts from the leader. If it exits before or during step 3, it leaves a
/// transaction of the leader whose end the others await.
final class JointCommit {
    /// The known outcome of the leader's commit.
    enum Outcome {
        case open
        case inDoubt
        case committed
    }

    private(set) var outcome = Outcome.open
    /// The pairs of stores that commit together for the first time, which they must record before the commit.
    private(set) var strangers: [(store: Int, peer: UUID)] = []

    private let stack: StackCore
    private let writers: [Int: WriteSession]
    /// The changed stores in commit order, which is the same in all processes.
    private let order: [Int]
    private let redo: [Int: Redo.Recorder?]
    private let executed: Set<Int>
    private let record: CommitRecord
    private let limit: WorkLimit?
    private var parts: [CommittedChanges.Part] = []
    /// Stores that could not commit their part yet.
    private var late: [(store: Int, cause: StorageError)] = []
    /// The reason why a store that keeps nothing beyond the process has not committed its part, which no other store holds.
    private var loss: StorageError?
    private var confirmed: [(peer: Peer, follower: Int, id: UUID)] = []

    init(
        _ stack: StackCore, _ writers: [Int: WriteSession], redo: [Int: Redo.Recorder?], executed: Set<Int>, _ record: CommitRecord,
        _ limit: WorkLimit?
    ) {
        self.stack = stack
        self.writers = writers
        // The store properties are read from the sessions, because the stack discards stores that are removed meanwhile.
        order = writers.filter { redo[$0.key] != nil }.sorted { $0.value.store.commitPlace < $1.value.store.commitPlace }.map(\.key)
        self.limit = limit
        self.redo = redo
        self.executed = executed
        // All stores record the same time, by which the commit of the leader is recognized later.
        var record = record
        record.time = record.time ?? Microseconds.from(Date())
        // Where one store is done, the others are not.
        if writers.count > 1 { record.didBecomeVisible = nil }
        self.record = record
    }

    /// Commits, and notifies observers of the stack.
    ///
    /// - Throws: `commitPending` if the transaction is committed and a store receives its part later; `commitIncomplete` if a store that
    ///   keeps nothing beyond the process lacks its part permanently. After any other error nothing is committed, or the commit is in
    ///   doubt. `storeClosed` if a store was removed from the stack before the first commit.
    func run(_ source: (any Hashable & Sendable)?) throws(StorageError) {
        // The commit of a server validates the data that was only read; a rollback would skip the validation.
        for (store, writer) in writers where redo[store] == nil && rank(store) == .server { _ = try writer.commit(record) }
        guard let first = order.first, let leader = writers[first] else { return }
        let followers = order.dropFirst().filter { rank($0) == .file }, servers = order.dropFirst().filter { rank($0) == .server }
        try keepRedo(of: followers, leader)
        let dropped = try stack.joint.dropConfirmed(first, leader)
        let ticket = stack.commits.begin(order)
        defer { stack.didCommit(ticket, parts.isEmpty ? nil : CommittedChanges(parts, author: record.author, source: source)) }
        try stack.joint.commit(Set(order), limit) { () throws(StorageError) in
            try checkStores()
            let prepared = try prepare(servers, for: leader, ticket)
            try commit(first, prepared, ticket)
            // The leader's commit decides for all stores: no cancellation and no deadline may end the commit of another one.
            limit?.lift()
            outcome = .committed
            stack.joint.didDrop(dropped, first)
            if !prepared.isEmpty || !followers.isEmpty { synchronize(first) }
            end(prepared, commits: true)
            for store in order.dropFirst() where !servers.contains(store) { commitPart(store, ticket) }
            for writer in writers.values { writer.end() }
            follow()
            for store in followers { synchronize(store) }
        }
        if let loss {
            throw StorageError(
                .commitIncomplete,
                "the transaction is committed, but one of its stores, which is in memory only, could not apply its part and lacks it; "
                    + "do not run the transaction again, but fill that store again", cause: loss)
        }
        if let (_, cause) = late.first {
            throw StorageError(
                .commitPending,
                "the transaction is committed, but one of its stores could not apply its part and will do so before its next write; do not "
                    + "run the transaction again", cause: cause)
        }
        dropConfirmed(first)
    }

    private func rank(_ store: Int) -> CommitRank? { writers[store]?.store.commitRank }

    /// Throws if a store was removed. From this point on, a removal waits until all stores have committed.
    private func checkStores() throws(StorageError) {
        if order.allSatisfy(stack.hasStore) { return }
        throw StorageError(.storeClosed, "a store of the transaction was removed from its stack; nothing was written")
    }

    // MARK: Redo data in the leader

    private func keepRedo(of followers: [Int], _ leader: WriteSession) throws(StorageError) {
        if followers.isEmpty { return }
        if !executed.isDisjoint(with: followers) {
            throw StorageError(
                .unsupported,
                "SQL cannot change a store in this transaction, because another store would have to keep the change; run the SQL in a separate transaction"
            )
        }
        let leaderID = leader.store.storeID, limit = leader.store.capabilities.maximumValueBytes
        for store in followers {
            guard let writer = writers[store] else { continue }
            guard let recorder = redo[store] ?? nil else {
                throw StorageError(.serializationFailure, "a store was added during the transaction; the transaction starts again")
            }
            let storeID = writer.store.storeID
            guard let peer = try Peers(writer).leader(leaderID), try Peers(leader).agrees(with: storeID, on: peer) else {
                strangers.append((store, leaderID))
                continue
            }
            if recorder.size + Self.headSize > limit {
                throw StorageError(
                    .limitExceeded,
                    "the changes of one store exceed what the store that commits first can keep for it; write less in one transaction")
            }
            try Peers.keep(recorder, author: record.author, for: storeID, peer, leader: leader, follower: writer)
            try leader.announceCommit(for: storeID)
            if let peer = try Peers(writer).leader(leaderID) { confirmed.append((peer, store, storeID)) }
        }
        if !strangers.isEmpty {
            throw StorageError(.serializationFailure, "two stores commit together for the first time; the transaction starts again")
        }
    }

    /// An upper bound of the bytes that are stored in addition to the changes.
    private static let headSize = 4096
    /// The minimum size in bytes of changes that are dropped immediately after the follower has them. Smaller ones are dropped with the
    /// next transaction of the leader.
    private static let bytesDroppedAtOnce = 65_536

    private func dropConfirmed(_ first: Int) {
        var size = 0
        for (peer, follower, id) in confirmed {
            stack.joint.confirm(peer, of: id, by: first)
            size += (redo[follower] ?? nil)?.size ?? 0
        }
        if size > Self.bytesDroppedAtOnce {
            for writer in writers.values { writer.end() }
            stack.dropConfirmed(in: first)
        }
    }

    // MARK: Servers other than the first

    private struct Prepared {
        let store: Int
        let storage: any PreparedCommitStorage
        let commit: CommitToken
        let part: CommittedChanges.Part?
    }

    private func prepare(
        _ servers: [Int], for leader: WriteSession, _ ticket: CommitHub.Ticket
    ) throws(StorageError) -> [Prepared] {
        var prepared: [Prepared] = []
        if servers.isEmpty { return prepared }
        guard let commit = try leader.commitToken(for: record) else { throw Self.preparesNothing }
        do throws(StorageError) {
            for store in servers {
                guard let writer = writers[store], writer.canPrepare,
                    let storage = writer.store.ability((any PreparedCommitStorage).self)
                else { throw Self.preparesNothing }
                stack.joint.setMayBePrepared(store, true)
                let changes = recordedChanges(store, writer, ticket)
                let token = try writer.prepare(for: commit, record)
                let part = changes?.isEmpty == true ? nil : CommittedChanges.Part(store: store, token: token, changes: changes)
                prepared.append(Prepared(store: store, storage: storage, commit: commit, part: part))
            }
        } catch {
            end(prepared, commits: false)
            throw error
        }
        return prepared
    }

    private static let preparesNothing = StorageError(
        .unsupported,
        "one transaction wrote to two stores whose commits can fail and that do not support prepared commits; use a transaction for each")

    /// Ends the prepared transactions in the same way as the leader's commit. A store that could not be reached determines the outcome
    /// before the next write to it.
    private func end(_ prepared: [Prepared], commits: Bool) {
        for item in prepared {
            do throws(StorageError) {
                try item.storage.endPrepared(for: item.commit, commits: commits)
                if commits, let part = item.part { parts.append(part) }
            } catch {
                if commits { late.append((item.store, error)) }
            }
        }
    }

    // MARK: The commits

    private func commit(_ first: Int, _ prepared: [Prepared], _ ticket: CommitHub.Ticket) throws(StorageError) {
        do throws(StorageError) {
            try commitOne(first, ticket)
        } catch {
            var error = error
            if error.code == .commitOutcomeUnknown, let isCommitted = isCommitted(first) {
                if isCommitted { return }
                error = StorageError(.inputOutput, "the commit failed; none of its changes are stored or will be", cause: error)
            }
            if error.code == .commitOutcomeUnknown {
                outcome = .inDoubt
                for item in prepared { isInDoubt(item.store) }
            } else {
                end(prepared, commits: false)
            }
            throw error
        }
    }

    /// Whether the leader has the transaction whose commit is in doubt, determined while its followers are locked; nil if the followers
    /// must request the outcome before the next write to them. A server settles its commit itself, and the followers wait for that.
    private func isCommitted(_ first: Int) -> Bool? {
        guard let (peer, _, follower) = confirmed.first, let writer = writers[first], writer.store.commitRank == .file else { return nil }
        // Another session may commit to the leader before this, but not over the same follower, which is locked. Whether the leader has the
        // transaction is read after both.
        stack.joint.doubt(writer.store.storeID)
        writer.end()
        do throws(StorageError) {
            try stack.settleDoubt(of: writer.store, WriteOptions(timeout: Self.patience))
            let reader = try writer.store.beginRead()
            defer { reader.end() }
            return try Peers(reader).agrees(with: follower, on: peer)
        } catch {
            return nil
        }
    }

    /// The time in seconds to wait for a leader in doubt while its followers are locked.
    private static let patience: TimeInterval = 5

    private func commitPart(_ store: Int, _ ticket: CommitHub.Ticket) {
        do throws(StorageError) {
            try commitOne(store, ticket)
        } catch {
            if rank(store) == .memory { loss = error } else { late.append((store, error)) }
        }
    }

    /// Waits until a store has made durable the data on which another store is about to rely, whatever its durability setting: after a
    /// power loss either all stores have the transaction or none. If this fails, every following commit of the store fails too.
    private func synchronize(_ store: Int) {
        do throws(StorageError) { try writers[store]?.store.synchronize() } catch { StoreLogging.notice(error.message) }
    }

    private func commitOne(_ store: Int, _ ticket: CommitHub.Ticket) throws(StorageError) {
        guard let writer = writers[store] else { return }
        let changes = recordedChanges(store, writer, ticket)
        do throws(StorageError) {
            let token = try writer.commit(record)
            if changes?.isEmpty != true { parts.append(CommittedChanges.Part(store: store, token: token, changes: changes)) }
        } catch {
            if error.code == .commitOutcomeUnknown { isInDoubt(store) }
            throw error
        }
    }

    private func recordedChanges(_ store: Int, _ writer: WriteSession, _ ticket: CommitHub.Ticket) -> HistoryChanges? {
        ticket.isObserved && !executed.contains(store) ? writer.recordedChanges : nil
    }

    private func isInDoubt(_ store: Int) {
        stack.commitIsInDoubt(in: store)
        // Without a history no later notification would report the changes.
        if writers[store]?.store.capabilities.contains(.history) != true {
            parts.append(CommittedChanges.Part(store: store, token: nil, changes: nil))
        }
    }

    /// Makes the stores that could not commit after the leader apply the changes that the leader keeps for them.
    private func follow() {
        let stores = late.map(\.store)
        late.removeAll()
        for store in stores {
            // The component that applies the changes notifies observers of them.
            do throws(StorageError) { try stack.beginWrite(store, WriteOptions()).end() } catch { late.append((store, error)) }
        }
    }
}
