internal import Foundation
public import PolystoreStorage

extension DataStack {
    /// Lets a store forget the stores that it has committed together with, and those of the stack forget it.
    ///
    /// A store that was part of a transaction over several stores can be written to only where the others can be asked whether they keep
    /// changes for it (`peerUnavailable`), and where it has the same of their transactions as they have (`peerDiverged`). Call this when one
    /// of them is gone for good, or was put back from a backup. Changes that others keep for it are never taken over then, also when both meet
    /// again; they begin anew with their next transaction. What it keeps for others they take over before, where the stack has them; another
    /// one that still lacks it refuses to be written to when both meet again (`peerDiverged`).
    /// - Returns: What the store does not have in common with each store that commits before it, and what stores after it may lack. After a
    ///   restore it is for the program to bring that into order; references between the stores are found by ``checkReferences(repairing:)``.
    /// - Throws: `notFound` for a store that the stack does not have.
    @discardableResult
    public func forgetPeers(of storage: any StorageInterface) throws(StorageError) -> [PeerDifference] {
        try reporting { () throws(StorageError) in
            try core.checkReentrancy()
            guard let position = core.entries.first(where: { $0.entry.store.isSame(as: storage) })?.position else {
                throw StorageError(.notFound, "the store is not part of this stack")
            }
            return try core.forgetPeers(of: position)
        }
    }

    /// Asks a store what became of a commit that ended with `commitOutcomeUnknown`.
    ///
    /// - Parameter token: What the error has in its details.
    /// - Returns: `inProgress` while the engine has not decided; all other answers are final.
    /// - Throws: `notFound` for a store that the stack does not have; `unsupported` by one that cannot tell; what asking it throws.
    public func outcome(of token: CommitToken) async throws -> CommitOutcome {
        let core = core
        return try await core.workers.reads.run(WorkLimit()) { refusal in
            try reportingOurs(functionName: "outcome(of:)") {
                if let refusal { throw refusal }
                return try core.outcome(of: token)
            }
        }
    }

    /// As `outcome(of:)`, on the calling thread.
    public func outcomeAndWait(of token: CommitToken) throws(StorageError) -> CommitOutcome {
        try reporting { () throws(StorageError) in try core.outcome(of: token) }
    }
}

extension StackCore {
    fileprivate func outcome(of token: CommitToken) throws(StorageError) -> CommitOutcome {
        guard let position = position(of: token.storeID) else {
            throw StorageError(.notFound, "the stack does not have the store of the commit; add it to ask it")
        }
        guard let store = try store(position).ability((any CommitOutcomeStorage).self) else {
            throw StorageError(.unsupported, "the store cannot tell what became of a commit")
        }
        return try store.outcome(of: token)
    }

    fileprivate func forgetPeers(of position: Int) throws(StorageError) -> [PeerDifference] {
        let entry = try entry(position), storeID = entry.store.storeID
        var found: (differences: [PeerDifference], pairings: [UUID: UUID])?
        for attempt in 1...TransactionRunner.attempts where found == nil {
            if attempt > 1 { TransactionRunner.pause(attempt) }
            letFollowersCatchUp(position)
            found = try forget(entry, isLast: attempt == TransactionRunner.attempts)
        }
        guard let (differences, pairings) = found else { return [] }
        try forgetPrepared(position, entry)
        for (other, known) in entries where other != position && isPersistent(other) {
            guard let pairing = pairings[known.store.storeID] else { continue }
            // What cannot be told now learns it when it meets the store.
            try? write(to: other) { writer throws(StorageError) in
                try Peers.forget(leader: storeID, pairing, writer)
                try Peers.forget(follower: storeID, pairing, writer)
            }
        }
        for difference in differences where difference.kind != .none {
            StoreLogging.notice("a store has forgotten another with which it has not the same transactions in common")
        }
        return differences
    }

    private func letFollowersCatchUp(_ position: Int) {
        for (other, _) in entries where other != position && canFollow(other) {
            // One that cannot take its part over now is among the differences.
            try? beginWrite(other, WriteOptions()).end()
        }
    }

    /// The pairings of a store, by its peers: as its leaders know them, which can have other ones than a store that was put back.
    private func pairings(of entry: Entry, _ peers: Peers) throws(StorageError) -> [UUID: UUID] {
        var found = try peers.pairings()
        for peer in try peers.leaders() {
            guard let leader = position(of: peer.store) else { continue }
            let reader = try store(leader).beginRead()
            defer { reader.end() }
            if let lead = try Peers(reader, skipsDamage: true).lead(of: entry.store.storeID) { found[peer.store] = lead.pairing }
        }
        return found
    }

    /// Lets a store forget its peers, in one transaction.
    ///
    /// - Returns: What it has not in common with them, and its pairings; nil where a follower that is at hand has yet to take its part of a
    ///   transaction, as between the two commits of another program, or another program wrote to the store.
    private func forget(
        _ entry: Entry, isLast: Bool
    ) throws(StorageError) -> (differences: [PeerDifference], pairings: [UUID: UUID])? {
        do throws(StorageError) {
            let writer = try entry.store.beginWrite(WriteOptions(isExclusive: isLast))
            defer { writer.end() }
            let peers = Peers(writer, skipsDamage: true), owed = try owed(by: peers, entry), pairings = try pairings(of: entry, peers)
            if !isLast, owed.contains(where: { $0.kind == .exceeds(1) && position(of: $0.peer) != nil }) { return nil }
            let differences = try Peers.differences(writer, read: reading(for: entry.store.storeID, WriteOptions()))
            try Peers.forgetAll(writer)
            try Peers.forgetFollowers(writer)
            _ = try writer.commit(CommitRecord())
            return (differences + owed, pairings)
        } catch  where error.code == .serializationFailure && !isLast {
            return nil
        }
    }

    /// How the followers of a store compare with it: those that the stack has are asked.
    private func owed(by leader: Peers, _ entry: Entry) throws(StorageError) -> [PeerDifference] {
        var found = try leader.owed { position(of: $0) != nil }
        for (_, other) in entries where other.store.storeID != entry.store.storeID {
            guard let reader = try? other.store.beginRead() else {
                // Whoever cannot be asked matters only where it follows this one.
                if try leader.lead(of: other.store.storeID) != nil { found.append(.unknown(other.store.storeID)) }
                continue
            }
            defer { reader.end() }
            if let difference = try leader.difference(from: Peers(reader, skipsDamage: true)) { found.append(difference) }
        }
        return found
    }
}
