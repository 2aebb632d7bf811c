internal import Foundation
internal import PolystoreStorage

/// The commit of a transaction: of one store, or of several, which all have it then, or will have it before anybody writes to them again.
///
/// 1. Each server but the first does all that its commit does except to commit (`prepare`), for the commit of the first store.
/// 2. The first store, the leader, gets the changes of each file that follows, and announces its commit to whoever asks for them.
/// 3. The leader commits. It decides for all.
/// 4. The prepared transactions end as it did, then the files commit, then the stores in memory.
///
/// A program that dies after 3 leaves a leader from which the others take their part; one that dies before, or in the midst of 3, leaves a
/// transaction of the leader whose end they wait for.
final class JointCommit {
    /// What is known of the leader's commit.
    enum Outcome {
        case open
        case inDoubt
        case committed
    }

    private(set) var outcome = Outcome.open
    /// The pairs of stores that commit together for the first time and have to note it before.
    private(set) var strangers: [(store: Int, peer: UUID)] = []

    private let stack: StackCore
    private let writers: [Int: WriteSession]
    /// The stores that were changed, in the order in which they commit, which is the same in all processes.
    private let order: [Int]
    private let redo: [Int: Redo.Recorder?]
    private let executed: Set<Int>
    private let record: CommitRecord
    private let limit: WorkLimit?
    private var parts: [CommittedChanges.Part] = []
    /// Stores that could not take their part yet.
    private var late: [(store: Int, cause: StorageError)] = []
    /// Why a store that keeps nothing beyond the process has not taken its part, which no other keeps.
    private var loss: StorageError?
    private var confirmed: [(peer: Peer, follower: Int, id: UUID)] = []

    init(
        _ stack: StackCore, _ writers: [Int: WriteSession], redo: [Int: Redo.Recorder?], executed: Set<Int>, _ record: CommitRecord,
        _ limit: WorkLimit?
    ) {
        self.stack = stack
        self.writers = writers
        // What the stores are is asked of the sessions: the stack forgets those that are removed meanwhile.
        order = writers.filter { redo[$0.key] != nil }.sorted { $0.value.store.commitPlace < $1.value.store.commitPlace }.map(\.key)
        self.limit = limit
        self.redo = redo
        self.executed = executed
        // All stores record one time, by which the commit of the leader is known again.
        var record = record
        record.time = record.time ?? Microseconds.from(Date())
        self.record = record
    }

    /// Commits, and notifies observers of the stack.
    ///
    /// - Throws: `commitPending` when all is committed and a store takes its part later, `commitIncomplete` when one that keeps nothing beyond
    ///   the process lacks it for good; after any other error nothing is committed, or it is in doubt. `storeClosed` when a store was removed
    ///   from the stack before the first commit.
    func run(_ source: (any Hashable & Sendable)?) throws(StorageError) {
        // What a server only read is validated by its commit; a rollback would forget it.
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
                "the transaction is committed; one of its stores, which keeps nothing beyond the process, could not take its part and lacks it; "
                    + "do not run it again, but fill that store again", cause: loss)
        }
        if let (_, cause) = late.first {
            throw StorageError(
                .commitPending,
                "the transaction is committed; one of its stores could not take its part yet and does so before it is next written to; do not "
                    + "run it again", cause: cause)
        }
        dropConfirmed(first)
    }

    private func rank(_ store: Int) -> CommitRank? { writers[store]?.store.commitRank }

    /// Refuses to commit where a store was removed: from here on a removal waits until all have committed.
    private func checkStores() throws(StorageError) {
        if order.allSatisfy(stack.hasStore) { return }
        throw StorageError(.storeClosed, "a store of the transaction was removed from its stack; nothing was written")
    }

    // MARK: What the leader keeps

    private func keepRedo(of followers: [Int], _ leader: WriteSession) throws(StorageError) {
        if followers.isEmpty { return }
        if !executed.isDisjoint(with: followers) {
            throw StorageError(
                .unsupported,
                "SQL changed a store whose part of the transaction another store would have to keep; run it in a transaction of its own")
        }
        let leaderID = leader.store.storeID, limit = leader.store.capabilities.maximumValueBytes
        for store in followers {
            guard let writer = writers[store] else { continue }
            guard let recorder = redo[store] ?? nil else {
                throw StorageError(.serializationFailure, "a store was added during the transaction; it starts again")
            }
            let storeID = writer.store.storeID
            guard let peer = try Peers(writer).leader(leaderID), try Peers(leader).agrees(with: storeID, on: peer) else {
                strangers.append((store, leaderID))
                continue
            }
            if recorder.size + Self.headSize > limit {
                throw StorageError(
                    .limitExceeded,
                    "the changes of one store are more than the store that commits first can keep for it; write less in one transaction")
            }
            try Peers.keep(recorder, author: record.author, for: storeID, peer, leader: leader, follower: writer)
            try leader.announceCommit(for: storeID)
            if let peer = try Peers(writer).leader(leaderID) { confirmed.append((peer, store, storeID)) }
        }
        if !strangers.isEmpty {
            throw StorageError(.serializationFailure, "two stores commit together for the first time; the transaction starts again")
        }
    }

    /// More than what is kept beside the changes.
    private static let headSize = 4096
    /// Changes of so many bytes are dropped at once when the follower has them; fewer with the next transaction of the leader.
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

    // MARK: Servers beside the first

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
        "one transaction wrote to two stores whose commit can still be refused and that prepare none; write to them in a transaction each")

    /// Ends what was prepared as the leader's commit ended. Who could not be told finds out before it is written to.
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
                error = StorageError(.inputOutput, "the commit failed; nothing of it is there, nor comes back", cause: error)
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

    /// Whether the leader has the transaction whose commit is in doubt, decided while its followers are locked; nil where they are to ask
    /// before they are written to. A server decides by itself, and they wait for that.
    private func isCommitted(_ first: Int) -> Bool? {
        guard let (peer, _, follower) = confirmed.first, let writer = writers[first], writer.store.commitRank == .file else { return nil }
        // Before anybody else has the store.
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

    /// Seconds for which a leader in doubt is waited for while its followers are locked.
    private static let patience: TimeInterval = 5

    private func commitPart(_ store: Int, _ ticket: CommitHub.Ticket) {
        do throws(StorageError) {
            try commitOne(store, ticket)
        } catch {
            if rank(store) == .memory { loss = error } else { late.append((store, error)) }
        }
    }

    /// Waits until a store keeps for good what another is about to rely on, whatever its durability: a loss of power leaves all stores with
    /// the transaction, or none. Where that fails, so does every next commit of the store.
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
        // Where there is no history nobody would tell.
        if writers[store]?.store.capabilities.contains(.history) != true {
            parts.append(CommittedChanges.Part(store: store, token: nil, changes: nil))
        }
    }

    /// Makes stores that could not commit after the leader take over what that keeps for them.
    private func follow() {
        let stores = late.map(\.store)
        late.removeAll()
        for store in stores {
            // Whoever takes the part over notifies observers of it.
            do throws(StorageError) { try stack.beginWrite(store, WriteOptions()).end() } catch { late.append((store, error)) }
        }
    }
}
