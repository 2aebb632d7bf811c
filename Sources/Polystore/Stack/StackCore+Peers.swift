internal import Foundation
internal import PolystoreStorage

/// When a store commits among others.
enum CommitRank: Int {
    /// First: its commit can still be refused.
    case server
    case file
    /// Last: nobody finds it again after a crash.
    case memory
}

extension OpenStore {
    /// When the store commits among others.
    var commitRank: CommitRank {
        if !capabilities.contains(.persistent) { return .memory }
        return capabilities.contains(.concurrentWriters) ? .server : .file
    }

    /// The place of the store in the order of commits, which is the same in all processes.
    var commitPlace: (Int, String) { (commitRank.rawValue, storeID.uuidString) }

    /// The place of the store in the order in which write transactions open them, which is the same in all processes: by identity, those with
    /// one writer first. Whoever has locks of rows then waits for no store as a whole, whose holder could wait for such a row unseen by its
    /// server; and a server's snapshot is no older than the wait.
    var lockPlace: (Int, String) { (commitRank == .server ? 1 : 0, storeID.uuidString) }
}

/// Stores that commit together: in which order, and how one catches up with another.
extension StackCore {
    /// Whether what was committed is there after a crash.
    func isPersistent(_ position: Int) -> Bool { (try? store(position)).map { $0.commitRank != .memory } ?? false }

    /// Stores in the order in which write transactions open them.
    ///
    /// - Throws: `storeClosed` when one was removed.
    func lockOrder(_ stores: Set<Int>) throws(StorageError) -> [Int] {
        try stores.map { position throws(StorageError) in (position: position, place: try store(position).lockPlace) }
            .sorted { $0.place < $1.place }.map(\.position)
    }

    /// Whether a store can follow another in a commit, so that the other has to keep its changes.
    func canFollow(_ position: Int) -> Bool {
        guard let own = try? store(position), own.commitRank == .file else { return false }
        return entries.contains { other, entry in other != position && entry.store.commitPlace < own.commitPlace }
    }

    /// Starts a write transaction. One of a store that other stores may keep changes for takes those over first.
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
                    // Without the lock of the store, which comes after theirs.
                    writer.end()
                    for store in doubtful { try settleDoubt(of: store, for: entry.store, options) }
                }
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

    /// The stores whose last commit is in doubt and has to be decided before a store is written to: itself, and those that it follows.
    private func doubtful(before writer: WriteSession) throws(StorageError) -> [UUID] {
        let doubtful = joint.doubtful
        return doubtful.isEmpty ? [] : try ([writer.store.storeID] + Peers(writer).known()).filter(doubtful.contains)
    }

    /// Decides the commit that is in doubt of a store, or of one that it follows.
    ///
    /// - Throws: `peerUnavailable` while the other store is not in the stack, or takes no transaction.
    private func settleDoubt(of doubtful: UUID, for store: OpenStore, _ options: WriteOptions) throws(StorageError) {
        if doubtful == store.storeID { return try settleDoubt(of: store, options) }
        guard let leader = entries.first(where: { $0.entry.store.storeID == doubtful })?.entry.store else { throw Peers.unavailable(nil) }
        try asking { () throws(StorageError) in try settleDoubt(of: leader, options) }
    }

    /// Decides a leader's commit that its engine left in doubt: what the store has when a transaction after it commits stays so.
    func settleDoubt(of leader: OpenStore, _ options: WriteOptions) throws(StorageError) {
        let writer = try leader.beginWrite(options)
        defer { writer.end() }
        // Of a doubt that comes later nothing is known.
        let doubt = joint.doubt(about: leader.storeID)
        do throws(StorageError) {
            try Peers.touch(writer)
            _ = try writer.commit(CommitRecord())
        } catch  where error.code == .commitOutcomeUnknown {
            throw StorageError(
                .inputOutput, "an earlier commit of the store is in doubt, and it takes none that decides; nothing was written",
                cause: error)
        }
        joint.settle(doubt, of: leader.storeID)
    }

    /// Asks a peer: where it cannot answer, the store that depends on it cannot be written to.
    private func asking<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        do throws(StorageError) { return try body() } catch {
            if [.busy, .timeout, .cancelled, .peerUnavailable].contains(error.code) { throw error }
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
    ///
    /// One that cannot do so now can be read all the same, and what leads out may need it in the stack. It catches up before it is next
    /// written to, or refuses that.
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

    /// Notes the leaders of a store in it that it knows nothing of, as when it was put back from a backup of before it had any.
    ///
    /// - Throws: `peerUnavailable` when one of the stores that it can follow cannot be asked.
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

    /// What a follower does not know of a leader, by their sessions.
    private func missing(_ follower: ReadSession, _ leader: ReadSession) throws(StorageError) -> Peer? {
        try Peers(follower).missing(Peers(leader), leader.store.storeID)
    }

    private func isBehind(_ position: Int, _ entry: Entry) throws(StorageError) -> Bool {
        if entry.store.commitRank != .file { return false }
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
        guard entry.store.commitRank == .file else { return }
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
