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
    private let redo: [Int: Redo.Recorder?]
    private let executed: Set<Int>
    private let record: CommitRecord
    private var parts: [CommittedChanges.Part] = []
    /// Stores that could not take their part yet.
    private var late: [(store: Int, cause: StorageError)] = []
    /// Why a store that keeps nothing beyond the process has not taken its part, which no other keeps.
    private var loss: StorageError?
    private var confirmed: [(peer: Peer, follower: Int)] = []

    init(
        _ stack: StackCore, _ writers: [Int: WriteSession], redo: [Int: Redo.Recorder?], executed: Set<Int>, _ record: CommitRecord
    ) {
        self.stack = stack
        self.writers = writers
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
    ///   the process lacks it for good; after any other error nothing is committed, or it is in doubt.
    func run(_ source: (any Hashable & Sendable)?) throws(StorageError) {
        let order = stack.commitOrder(Set(redo.keys))
        // What a server only read is validated by its commit; a rollback would forget it.
        for (store, writer) in writers where redo[store] == nil && stack.commitRank(store) == 0 { _ = try writer.commit(record) }
        guard let first = order.first, let leader = writers[first] else { return }
        let followers = order.dropFirst().filter { stack.commitRank($0) == 1 }
        let servers = order.dropFirst().filter { stack.commitRank($0) == 0 }
        try keepRedo(of: followers, in: first, leader)
        let dropped = try stack.joint.dropConfirmed(first, leader)
        let ticket = stack.commits.begin(order)
        defer { stack.didCommit(ticket, parts.isEmpty ? nil : CommittedChanges(parts, author: record.author, source: source)) }
        try stack.joint.commit(Set(order)) { () throws(StorageError) in
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

    // MARK: What the leader keeps

    private func keepRedo(of followers: [Int], in first: Int, _ leader: WriteSession) throws(StorageError) {
        if followers.isEmpty { return }
        if !executed.isDisjoint(with: followers) {
            throw StorageError(
                .unsupported,
                "SQL changed a store whose part of the transaction another store would have to keep; run it in a transaction of its own")
        }
        let leaderID = stack.storeID(first), limit = try stack.store(first).capabilities.maximumValueBytes
        for store in followers {
            guard let writer = writers[store] else { continue }
            guard let recorder = redo[store] ?? nil else {
                throw StorageError(.serializationFailure, "a store was added during the transaction; it starts again")
            }
            let storeID = stack.storeID(store)
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
            if let peer = try Peers(writer).leader(leaderID) { confirmed.append((peer, store)) }
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
        for (peer, follower) in confirmed {
            stack.joint.confirm(peer, of: stack.storeID(follower), by: first)
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
                guard let storage = try stack.store(store).ability((any PreparedCommitStorage).self),
                    let writer = writers[store], writer.canPrepare
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
        guard let (peer, follower) = confirmed.first, stack.commitRank(first) == 1 else { return nil }
        writers[first]?.end()
        stack.joint.setDoubtful(first, true)
        do throws(StorageError) {
            try stack.settleDoubt(first, WriteOptions(timeout: Self.patience))
            let reader = try stack.store(first).beginRead()
            defer { reader.end() }
            return try Peers(reader).agrees(with: stack.storeID(follower), on: peer)
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
            if stack.isPersistent(store) { late.append((store, error)) } else { loss = error }
        }
    }

    /// Waits until a store keeps for good what another is about to rely on, whatever its durability: a loss of power leaves all stores with
    /// the transaction, or none. Where that fails, so does every next commit of the store.
    private func synchronize(_ store: Int) {
        do throws(StorageError) { try stack.store(store).synchronize() } catch { StoreLogging.notice(error.message) }
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
        if (try? stack.store(store).capabilities.contains(.history)) != true {
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
