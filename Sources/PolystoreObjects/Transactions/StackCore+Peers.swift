internal import PolystoreFoundation
internal import PolystoreStorage

extension OpenStore {
    /// The rank of the store in the order of a joint commit.
    var commitRank: CommitRank {
        if !capabilities.contains(.persistent) { return .memory }
        return capabilities.contains(.concurrentWriters) ? .server : .file
    }

    /// The position of the store in the order of commits, which is the same in all processes.
    var commitPlace: (Int, String) { (commitRank.rawValue, storeID.uuidString) }

    /// The position of the store in the order in which write transactions open stores, which is the same in all processes: stores with a
    /// single writer first, then by identity. A transaction that holds row locks of a server therefore never waits for a whole store, whose
    /// holder could be waiting for such a row without the server noticing the deadlock. In addition, the snapshot of a server is taken
    /// after the wait.
    var lockPlace: (Int, String) { (commitRank == .server ? 1 : 0, storeID.uuidString) }
}

/// The order of joint commits, and the completion of a joint commit in stores that are behind their peers.
extension StackCore {
    /// Whether committed data survives a crash.
    func isPersistent(_ position: Int) -> Bool { (try? store(position)).map { $0.commitRank != .memory } ?? false }

    /// Returns stores in the order in which write transactions open them.
    ///
    /// - Throws: `storeClosed` if one of them was removed.
    func lockOrder(_ stores: Set<Int>) throws(StorageError) -> [Int] {
        try stores.map { position throws(StorageError) in (position: position, place: try store(position).lockPlace) }
            .sorted { $0.place < $1.place }.map(\.position)
    }

    /// Whether a store can follow another one in a commit, so that the other one must keep its changes.
    func canFollow(_ position: Int) -> Bool {
        guard let own = try? store(position), own.commitRank == .file else { return false }
        return entries.contains { other, entry in other != position && entry.store.commitPlace < own.commitPlace }
    }

    /// Begins a write transaction. If other stores may keep changes for the store, these are applied first.
    func beginWrite(_ position: Int, _ options: WriteOptions) throws(StorageError) -> WriteSession {
        let entry = try entry(position)
        var options = options
        options.isFollowed = commits.isObserved
        try settlePrepared(position, entry, options)
        if entry.store.commitRank != .file { return try entry.store.beginWrite(options) }
        if joint.mayLackPeers(position) { try remind(position, entry, options) }
        while true {
            let writer = try entry.store.beginWrite(options)
            do throws(StorageError) {
                let doubtful = try doubtful(before: writer)
                if doubtful.isEmpty {
                    let author = try Peers.settle(writer, read: reading(for: entry.store.storeID, options))
                    guard let author else { return writer }
                    try commitSettled(writer, position, author)
                } else {
                    // The lock of this store is released, because it comes after theirs in the lock order.
                    writer.end()
                    for store in doubtful { try settleDoubt(of: store, for: entry.store, options) }
                }
            } catch {
                writer.end()
                throw error
            }
        }
    }

    /// Commits the changes that a store has taken over from a leader, and notifies observers.
    private func commitSettled(_ writer: WriteSession, _ position: Int, _ author: String) throws(StorageError) {
        let ticket = commits.begin([position]), changes = ticket.isObserved ? writer.recordedChanges : nil
        var told: CommittedChanges?
        defer { didCommit(ticket, told) }
        // After the ticket: a removal waits for those that it finds.
        if !hasStore(position) { throw StorageError(.storeClosed, "the store was removed from its stack; nothing was written") }
        do throws(StorageError) {
            let token = try writer.commit(CommitRecord(author: author))
            told = CommittedChanges([CommittedChanges.Part(store: position, token: token, changes: changes)], author: author)
        } catch {
            if error.code == .commitOutcomeUnknown { commitIsInDoubt(in: position) }
            throw error
        }
        try writer.store.synchronize()
    }

    /// Returns the stores whose last commit is in doubt and must be decided before a store is written to: the store itself and those that
    /// it follows.
    private func doubtful(before writer: WriteSession) throws(StorageError) -> [UUID] {
        let doubtful = joint.doubtful
        return doubtful.isEmpty ? [] : try ([writer.store.storeID] + Peers(writer).known()).filter(doubtful.contains)
    }

    /// Decides the commit in doubt of a store or of one of its leaders.
    ///
    /// - Throws: `peerUnavailable` while the other store is not in the stack or accepts no transaction.
    private func settleDoubt(of doubtful: UUID, for store: OpenStore, _ options: WriteOptions) throws(StorageError) {
        if doubtful == store.storeID { return try settleDoubt(of: store, options) }
        guard let leader = entries.first(where: { $0.entry.store.storeID == doubtful })?.entry.store else { throw Peers.unavailable(nil) }
        try asking { () throws(StorageError) in try settleDoubt(of: leader, options) }
    }

    /// Decides a leader's commit that its engine left in doubt. If a later transaction commits, the state that it saw is final.
    func settleDoubt(of leader: OpenStore, _ options: WriteOptions) throws(StorageError) {
        let writer = try leader.beginWrite(options)
        defer { writer.end() }
        // The number is read now, because the transaction decides nothing about a doubt that is recorded later.
        let doubt = joint.doubt(about: leader.storeID)
        do throws(StorageError) {
            try Peers.touch(writer)
            _ = try writer.commit(CommitRecord())
        } catch  where error.code == .commitOutcomeUnknown {
            throw StorageError(
                .inputOutput,
                "an earlier commit of the store \(leader.storeID.uuidString.lowercased()) is in doubt, and the commit that would decide it failed; "
                    + "nothing was written",
                cause: error)
        }
        joint.settle(doubt, of: leader.storeID)
    }

    /// Runs a request to a peer. If the peer cannot answer, the store that depends on it is not writable.
    private func asking<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) { return try body() } catch {
            if [.busy, .timeout, .cancelled, .peerUnavailable].contains(error.code) { throw error }
            throw Peers.unavailable(error)
        }
    }

    /// Returns the function that opens read sessions of a store's leaders.
    func reading(for follower: UUID, _ options: WriteOptions) -> Peers.Reading {
        { [weak self] leader throws(StorageError) in
            guard let self, let position = position(of: leader) else { return nil }
            let store = try store(position)
            try store.awaitCommits(for: follower, options)
            return try store.beginRead(Self.reserved(options))
        }
    }

    /// Returns the options for reading a store on behalf of a waiting write transaction.
    private static func reserved(_ options: WriteOptions) -> ReadOptions { ReadOptions(limit: options.limit, isForWriter: true) }

    /// Lets stores that are behind a peer catch up, if the stack has both, and lets leaders drop the changes that their followers have
    /// applied. Called when a store is added.
    ///
    /// A store that cannot catch up now remains readable, because the code that resolves the problem may need it in the stack. It catches
    /// up before the next write to it, or refuses that write.
    func catchUp() {
        for (position, entry) in entries {
            if canFollow(position) { joint.setMayLackPeers(position, true) }
            trying { () throws(StorageError) in
                if joint.mayLackPeers(position) { try remind(position, entry, WriteOptions()) }
                if try isBehind(position, entry) { try beginWrite(position, WriteOptions()).end() }
            }
            trying { () throws(StorageError) in try endPrepared(position, entry) }
            dropConfirmed(position, entry)
        }
    }

    private func trying(_ body: () throws(StorageError) -> Void) {
        do throws(StorageError) { try body() } catch { StoreLogging.notice(error.message) }
    }

    /// Records in a store the leaders of which it has no record, for example because it was restored from a backup that precedes them.
    ///
    /// - Throws: `peerUnavailable` if one of the stores that it can follow cannot be read.
    private func remind(_ position: Int, _ entry: Entry, _ options: WriteOptions) throws(StorageError) {
        for (other, leader) in entries where other != position && leader.store.commitPlace < entry.store.commitPlace {
            let session = try asking { () throws(StorageError) in try leader.store.beginRead(Self.reserved(options)) }
            defer { session.end() }
            let reader = try entry.store.beginRead(ReadOptions(limit: options.limit))
            defer { reader.end() }
            if try missing(reader, session) == nil { continue }
            let writer = try entry.store.beginWrite(options)
            defer { writer.end() }
            guard let missing = try missing(writer, session) else { continue }
            try Peers.add(missing, writer)
            _ = try writer.commit(CommitRecord())
        }
        joint.setMayLackPeers(position, false)
    }

    /// Returns the record of a leader that a follower lacks, according to their sessions.
    private func missing(_ follower: ReadSession, _ leader: ReadSession) throws(StorageError) -> Peer? {
        try Peers(follower).missing(Peers(leader), leader.store.storeID)
    }

    private func isBehind(_ position: Int, _ entry: Entry) throws(StorageError) -> Bool {
        if entry.store.commitRank != .file { return false }
        return try withLeaders(of: entry) { leader, peer throws(StorageError) in
            try leader.isAhead(of: entry.store.storeID, peer)
        }
    }

    /// Whether a condition holds for one of a store's leaders in the stack. The leaders are read in their last committed state.
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

    /// Lets the leaders of a store drop the changes that it has applied. A failed attempt is repeated later.
    private func dropConfirmed(_ position: Int, _ entry: Entry) {
        guard entry.store.commitRank == .file else { return }
        _ = try? withLeaders(of: entry) { leader, peer throws(StorageError) in
            if try leader.keepsConfirmed(for: entry.store.storeID, peer), let place = self.position(of: peer.store) {
                joint.confirm(peer, of: entry.store.storeID, by: place)
            }
            return false
        }
        for (place, _) in entries { dropConfirmed(in: place) }
    }

    /// Drops the changes that a store keeps for followers that have applied them, in a separate transaction.
    func dropConfirmed(in position: Int) {
        if !joint.hasConfirmed(position) { return }
        do throws(StorageError) {
            let writer = try beginWrite(position, WriteOptions())
            defer { writer.end() }
            let dropped = try joint.dropConfirmed(position, writer)
            _ = try writer.commit(CommitRecord())
            joint.didDrop(dropped, position)
        } catch {
            // The next transaction over both stores replaces the changes, and adding both stores to a stack tries again.
        }
    }

    /// Records in each store that a peer may keep changes for it, and in the peer that it does.
    func pair(_ pairs: [(store: Int, peer: UUID)]) throws(StorageError) {
        for (store, peer) in pairs {
            guard let leader = position(of: peer) else { continue }
            let pairing = UUID()
            // The follower is written first: with no transaction of the pairing yet, it is consistent with a leader that has no record of
            // it.
            try write(to: store) { writer throws(StorageError) in try Peers.add(peer, pairing: pairing, writer) }
            try write(to: leader) { writer throws(StorageError) in
                // Two programs may pair the stores concurrently. The changes that one of them has already stored must not be dropped for
                // the pairing of the other. The leader is read before the follower, so that a later change of the leader is a conflict.
                _ = try Peers(writer).lead(of: storeID(store))
                let reader = try self.store(store).beginRead()
                defer { reader.end() }
                guard let now = try Peers(reader).leader(peer), now.pairing == pairing, now.number == 0 else { return }
                try Peers.lead(storeID(store), pairing: pairing, writer)
            }
        }
    }

    /// Writes records to a store. Repeats the transaction after a conflict with another writer; the last attempt has exclusive access.
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
