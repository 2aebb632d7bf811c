internal import Foundation
public import PolystoreStorage

extension DataStack {
    /// Lets a store forget the stores that it has committed together with, and those of the stack forget it.
    ///
    /// A store that was part of a transaction over several stores can be written to only where the others can be asked whether they keep
    /// changes for it (`peerUnavailable`), and where it has the same of their transactions as they have (`peerDiverged`). Call this when one
    /// of them is gone for good, or was put back from a backup. Changes that others keep for it are never taken over then, also when both meet
    /// again; they begin anew with their next transaction.
    /// - Returns: What the store does not have in common with each store that commits before it. After a restore it is for the program to
    ///   bring that into order; references between the stores are found by ``checkReferences(repairing:)``.
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
        let writer = try entry.store.beginWrite(WriteOptions())
        defer { writer.end() }
        let differences = try Peers.differences(writer, read: reading(for: storeID, WriteOptions()))
        try Peers.forgetAll(writer)
        try Peers.forgetFollowers(writer)
        _ = try writer.commit(CommitRecord())
        try forgetPrepared(position, entry)
        for (other, _) in entries where other != position && isPersistent(other) {
            // What cannot be told now learns it when it meets the store.
            try? write(to: other) { writer throws(StorageError) in
                try Peers.forget(leader: storeID, writer)
                try Peers.forget(follower: storeID, writer)
            }
        }
        for difference in differences where difference.kind != .none {
            StoreLogging.notice("a store has forgotten another with which it has not the same transactions in common")
        }
        return differences
    }
}
