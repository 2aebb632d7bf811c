internal import PolystoreFoundation
public import PolystoreStorage

extension DataStack {
    /// Removes a store's records of the stores with which it has committed jointly, and their records of it in the stack.
    ///
    /// A store that took part in a transaction over several stores is writable only if the other stores can be asked whether they keep
    /// changes for it (`peerUnavailable` otherwise), and if it has the same joint transactions as they have (`peerDiverged` otherwise).
    /// Call this method if one of the stores is permanently gone or was restored from a backup. Changes that other stores keep for the
    /// store are then never applied to it, even if both stores meet again; a new pairing begins with their next transaction. Changes that
    /// the store keeps for other stores are applied to those first, if the stack has them. Another store that still lacks such changes
    /// refuses writes when both stores meet again (`peerDiverged`).
    /// - Returns: The differences between the store and each store that commits before it, and the changes that stores after it may lack.
    ///   After a restore the program must resolve these differences; ``checkReferences(repairing:)`` finds references between the stores.
    /// - Throws: `notFound` for a store that is not in the stack.
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

    /// Requests from a store the outcome of a commit that ended with `commitOutcomeUnknown`.
    ///
    /// A store in a file decides by a commit of its own, which waits for other writers. The timeout, like the cancellation of the task,
    /// ends the request, which can then be repeated.
    /// - Parameters:
    ///   - token: The token in the details of the error.
    ///   - timeout: The maximum total duration; nil for that of a write transaction.
    /// - Returns: `inProgress` while the engine has not decided. All other results are final.
    /// - Throws: `notFound` for a store that is not in the stack; `unsupported` if the store cannot determine outcomes; `timeout` and
    ///   `cancelled`; `reentrantCall` inside a transaction of the stack, which could be what the request waits for; any error of the
    ///   request.
    public func outcome(of token: CommitToken, timeout: Duration? = nil) async throws -> CommitOutcome {
        let core = core, limit = WorkLimit(timeout: timeout)
        // Not on a thread of the readers, because it may wait for writers.
        return try await core.workers.writes.run(limit, inside: RunningTransaction.around(core)) { refusal, _ in
            try reportingOurs(functionName: "outcome(of:timeout:)") {
                if let refusal { throw refusal }
                return try core.outcome(of: token, limit)
            }
        }
    }

    /// Requests the outcome of a commit like `outcome(of:timeout:)`, on the calling thread.
    public func outcomeAndWait(of token: CommitToken, timeout: Duration? = nil) throws(StorageError) -> CommitOutcome {
        try reporting { () throws(StorageError) in
            try core.checkReentrancy()
            return try core.outcome(of: token, WorkLimit(timeout: timeout))
        }
    }
}

extension StackCore {
    fileprivate func outcome(of token: CommitToken, _ limit: WorkLimit) throws(StorageError) -> CommitOutcome {
        guard let position = position(of: token.storeID) else {
            throw StorageError(
                .notFound,
                "no store of this stack has the identity \(token.storeID.uuidString.lowercased()); add the store of the commit to request its outcome"
            )
        }
        guard let store = try store(position).ability((any CommitOutcomeStorage).self) else {
            throw StorageError(.unsupported, "the store cannot determine the outcome of a commit")
        }
        return try store.outcome(of: token, limit: limit)
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
            // A store that cannot be written now removes its record when it meets the store again.
            try? write(to: other) { writer throws(StorageError) in
                try Peers.forget(leader: storeID, pairing, writer)
                try Peers.forget(follower: storeID, pairing, writer)
            }
        }
        for difference in differences where difference.kind != .none {
            StoreLogging.notice("a store has forgotten a peer although their shared transactions differ")
        }
        return differences
    }

    private func letFollowersCatchUp(_ position: Int) {
        for (other, _) in entries where other != position && canFollow(other) {
            // A store that cannot apply its part now is among the differences.
            try? beginWrite(other, WriteOptions()).end()
        }
    }

    /// Returns the pairings of a store by its peers, as recorded by its leaders. These can differ from the records of a store that was
    /// restored.
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

    /// Removes a store's records of its peers, in one transaction.
    ///
    /// - Returns: The differences from its peers, and its pairings; nil if an available follower has not applied its part of a transaction
    ///   yet, for example between the two commits of another program, or if another program wrote to the store.
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

    /// Returns the differences between a store and its followers. The followers in the stack are read.
    private func owed(by leader: Peers, _ entry: Entry) throws(StorageError) -> [PeerDifference] {
        var found = try leader.owed { position(of: $0) != nil }
        for (_, other) in entries where other.store.storeID != entry.store.storeID {
            guard let reader = try? other.store.beginRead() else {
                // A store that cannot be read matters only if it follows this one.
                if try leader.lead(of: other.store.storeID) != nil { found.append(.unknown(other.store.storeID)) }
                continue
            }
            defer { reader.end() }
            if let difference = try leader.difference(from: Peers(reader, skipsDamage: true)) { found.append(difference) }
        }
        return found
    }
}
