internal import Foundation
internal import PolystoreStorage

/// Stores that commit together: in which order, and how one catches up with another.
extension StackCore {
    /// The place of a store in the order of commits: those first whose commit can still be refused, those last that nobody finds again
    /// after a crash.
    func commitRank(_ position: Int) -> Int {
        guard let capabilities = try? entry(position).store.capabilities.supported, capabilities.contains(.persistent) else { return 2 }
        return capabilities.contains(.concurrentWriters) ? 0 : 1
    }

    /// Whether what was committed is there after a crash.
    func isPersistent(_ position: Int) -> Bool { commitRank(position) < 2 }

    /// Stores in the order in which write transactions open them, which is the same in all processes: by identity, those with one writer
    /// first. Whoever has locks of rows then waits for no store as a whole, whose holder could wait for such a row unseen by its server;
    /// and a server's snapshot is no older than the wait.
    func lockOrder(_ stores: Set<Int>) -> [Int] {
        stores.map { (commitRank($0) == 0 ? 1 : 0, storeID($0).uuidString, $0) }.sorted { $0 < $1 }.map(\.2)
    }

    /// Stores in the order in which they commit, which is the same in all processes.
    func commitOrder(_ stores: Set<Int>) -> [Int] {
        stores.map { (commitRank($0), storeID($0).uuidString, $0) }.sorted { $0 < $1 }.map(\.2)
    }

    /// Whether a store can follow another in a commit, so that the other has to keep its changes.
    func canFollow(_ position: Int) -> Bool {
        guard commitRank(position) == 1 else { return false }
        let own = storeID(position).uuidString
        return entries.contains { other, entry in
            other != position && (commitRank(other), entry.store.storeID.uuidString) < (1, own)
        }
    }

    /// Starts a write transaction. One of a store that other stores may keep changes for takes those over first.
    func beginWrite(_ position: Int, _ options: WriteOptions) throws(StorageError) -> WriteSession {
        let entry = try entry(position)
        var options = options
        options.isFollowed = commits.isObserved
        try settlePrepared(position, entry, options)
        if commitRank(position) != 1 { return try entry.store.beginWrite(options) }
        for leader in joint.doubtful where leader != position { try settleDoubt(leader, options) }
        while true {
            let writer = try entry.store.beginWrite(options)
            do throws(StorageError) {
                let author = try Peers.settle(writer, read: reading(for: entry.store.storeID, options))
                guard let author else { return writer }
                try commitSettled(writer, position, author)
            } catch {
                writer.end()
                throw error
            }
        }
    }

    /// Commits what a store has taken over from a leader, and notifies observers.
    private func commitSettled(_ writer: WriteSession, _ position: Int, _ author: String) throws(StorageError) {
        let ticket = commits.begin([position]), changes = ticket.isObserved ? writer.recordedChanges : nil
        var told: CommittedChanges?
        defer { didCommit(ticket, told) }
        do throws(StorageError) {
            let token = try writer.commit(CommitRecord(author: author))
            told = CommittedChanges([CommittedChanges.Part(store: position, token: token, changes: changes)], author: author)
        } catch {
            if error.code == .commitOutcomeUnknown { commitIsInDoubt(in: position) }
            throw error
        }
        try writer.store.synchronize()
    }

    /// Decides a leader's commit that its engine left in doubt: what the store has when a transaction after it commits stays so.
    ///
    /// - Throws: `peerUnavailable` while the store does not take that transaction.
    func settleDoubt(_ leader: Int, _ options: WriteOptions) throws(StorageError) {
        do throws(StorageError) {
            let writer = try entry(leader).store.beginWrite(options)
            defer { writer.end() }
            try Peers.touch(writer)
            _ = try writer.commit(CommitRecord())
            joint.setDoubtful(leader, false)
        } catch {
            if [.busy, .timeout, .cancelled].contains(error.code) { throw error }
            throw Peers.unavailable(error)
        }
    }

    /// How the leaders of a store are read.
    func reading(for follower: UUID, _ options: WriteOptions) -> Peers.Reading {
        { [weak self] leader throws(StorageError) in
            guard let self, let position = position(of: leader) else { return nil }
            let store = try store(position)
            try store.awaitCommits(for: follower, options)
            return try store.beginRead(Self.reserved(options))
        }
    }

    /// How a store is read for which a write transaction waits.
    private static func reserved(_ options: WriteOptions) -> ReadOptions { ReadOptions(limit: options.limit, isForWriter: true) }

    /// Lets the stores that are behind a peer catch up, as far as the stack has both, and leaders drop what they keep for stores that have
    /// it; called when a store comes.
    func catchUp() throws(StorageError) {
        for (position, entry) in entries {
            try remind(position, entry)
            if try isBehind(position, entry) {
                do throws(StorageError) {
                    try beginWrite(position, WriteOptions()).end()
                } catch  where error.code == .peerDiverged || error.code == .peerUnavailable {
                    // It can be read, and what leads out needs it in the stack.
                    StoreLogging.notice(error.message)
                }
            }
            try endPrepared(position, entry)
            dropConfirmed(position, entry)
        }
    }

    /// Notes the leaders of a store in it that it knows nothing of, as when it was put back from a backup of before it had any.
    private func remind(_ position: Int, _ entry: Entry) throws(StorageError) {
        if !canFollow(position) { return }
        let reader = try entry.store.beginRead()
        defer { reader.end() }
        for (other, leader) in entries where other != position && isPersistent(other) {
            let session = try leader.store.beginRead()
            defer { session.end() }
            guard let missing = try Peers(reader).missing(Peers(session), leader.store.storeID) else { continue }
            try write(to: position) { writer throws(StorageError) in try Peers.add(missing, writer) }
        }
    }

    private func isBehind(_ position: Int, _ entry: Entry) throws(StorageError) -> Bool {
        if commitRank(position) != 1 { return false }
        return try withLeaders(of: entry) { leader, peer throws(StorageError) in
            try leader.isAhead(of: entry.store.storeID, peer)
        }
    }

    /// Whether something holds for one of the leaders of a store that the stack has; they are seen as they were committed last.
    private func withLeaders(
        of entry: Entry, _ body: (Peers, Peer) throws(StorageError) -> Bool
    ) throws(StorageError) -> Bool {
        let reader = try entry.store.beginRead()
        defer { reader.end() }
        for peer in try Peers(reader).leaders() {
            guard let position = position(of: peer.store) else { continue }
            let session = try store(position).beginRead()
            defer { session.end() }
            if try body(Peers(session), peer) { return true }
        }
        return false
    }

    /// Lets the leaders of a store drop what it has. What cannot be dropped now is dropped another time.
    private func dropConfirmed(_ position: Int, _ entry: Entry) {
        guard commitRank(position) == 1 else { return }
        _ = try? withLeaders(of: entry) { leader, peer throws(StorageError) in
            if try leader.keepsConfirmed(for: entry.store.storeID, peer), let place = self.position(of: peer.store) {
                joint.confirm(peer, of: entry.store.storeID, by: place)
            }
            return false
        }
        for (place, _) in entries { dropConfirmed(in: place) }
    }

    /// Lets a store drop the changes that it keeps for others and that they have, in a transaction of its own.
    func dropConfirmed(in position: Int) {
        if !joint.hasConfirmed(position) { return }
        do throws(StorageError) {
            let writer = try beginWrite(position, WriteOptions())
            defer { writer.end() }
            let dropped = try joint.dropConfirmed(position, writer)
            _ = try writer.commit(CommitRecord())
            joint.didDrop(dropped, position)
        } catch {
            // The next transaction over both stores replaces it, and whoever adds both to a stack tries again.
        }
    }

    /// Notes in each store that another may keep changes for it, and in the other that it does.
    func pair(_ pairs: [(store: Int, peer: UUID)]) throws(StorageError) {
        for (store, peer) in pairs {
            guard let leader = position(of: peer) else { continue }
            let pairing = UUID()
            // The follower first: one that has no transaction of a pairing yet does not mind that its leader knows nothing of it.
            try write(to: store) { writer throws(StorageError) in try Peers.add(peer, pairing: pairing, writer) }
            try write(to: leader) { writer throws(StorageError) in
                // Two programs may pair the stores at once: what the one keeps already must not be dropped for the pairing of the other. The
                // leader is read before the follower, so that a change of it since then is a conflict.
                _ = try Peers(writer).lead(of: storeID(store))
                let reader = try self.store(store).beginRead()
                defer { reader.end() }
                guard let now = try Peers(reader).leader(peer), now.pairing == pairing, now.number == 0 else { return }
                try Peers.lead(storeID(store), pairing: pairing, writer)
            }
        }
    }

    /// Writes notes to a store: again after a conflict with another writer, the last time alone.
    func write(to store: Int, _ body: (WriteSession) throws(StorageError) -> Void) throws(StorageError) {
        let attempts = TransactionRunner.attempts
        for attempt in 1...attempts {
            do throws(StorageError) {
                let writer = try beginWrite(store, WriteOptions(isExclusive: attempt == attempts))
                defer { writer.end() }
                try body(writer)
                _ = try writer.commit(CommitRecord())
                return
            } catch  where error.code == .serializationFailure && attempt < attempts {
                TransactionRunner.pause(attempt)
            }
        }
    }
}
