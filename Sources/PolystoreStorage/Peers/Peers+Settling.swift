package import PolystoreFoundation

extension Peers {
    /// A closure that begins a read session of a leader. Before that, it waits until every commit to the leader that carries changes for
    /// the store has ended. It returns nil if the leader cannot be reached.
    package typealias Reading = (UUID) throws(StorageError) -> ReadSession?

    /// Applies the changes that leaders keep for a store. This must happen before anything else is written to the store.
    ///
    /// - Parameters:
    ///   - writer: A new write transaction of the store.
    ///   - read: Begins a read session of a leader.
    /// - Returns: The author of the applied changes, or nil if there were none. If there were changes, the caller has to commit the writer.
    /// - Throws: `peerUnavailable` if a leader cannot be reached; `peerDiverged` if the two stores have different transactions, after which
    ///   the writer can only be rolled back; `busy` and `timeout` if a commit of a leader did not end in time.
    package static func settle(
        _ writer: WriteSession, read: Reading
    ) throws(StorageError) -> String? {
        let store = writer.store.storeID
        var author: String?
        for peer in try Peers(writer).leaders() {
            let session = try begin(peer.store, read)
            defer { session.end() }
            let comparison = try PeerComparison(Peers(session), peer, of: store)
            switch comparison {
            case .same: continue
            case .next: break
            case .behind, .ahead, .unrelated: throw diverged(comparison, cause: nil)
            }
            guard let kept = try Peers(session).redo(for: store) else { throw diverged(comparison, cause: nil) }
            let redo = try Redo(kept, writer.schema)
            guard redo.number == peer.number + 1 else { throw Redo.damaged }
            try apply(redo, writer)
            try setNumber(redo.number, try Peers(session).lead(of: store)?.mark, of: peer, writer)
            author = redo.author
        }
        return author
    }

    private static func begin(_ peer: UUID, _ read: Reading) throws(StorageError) -> ReadSession {
        do throws(StorageError) {
            if let session = try read(peer) { return session }
        } catch {
            if [.busy, .timeout, .cancelled].contains(error.code) { throw error }
            throw unavailable(error)
        }
        throw unavailable(nil)
    }

    /// Applies changes under the original conditions: each row must have the version that it had originally, so that nothing newer is
    /// overwritten.
    private static func apply(_ redo: Redo, _ writer: WriteSession) throws(StorageError) {
        do throws(StorageError) {
            for changes in redo.changes { try apply(changes, writer) }
        } catch  where [.staleObject, .notFound, .alreadyExists, .uniqueConstraintViolated].contains(error.code) {
            throw diverged(.next, cause: error)
        }
    }

    /// Applies changes whose keys were reserved by a transaction that no longer exists. The key counter has to rise above these keys again.
    private static func apply(_ changes: ChangeSet, _ writer: WriteSession) throws(StorageError) {
        try writer.apply(changes)
        var greatest: [EntityIndex: Int64] = [:]
        let batch = RowBatch(capacity: 512)
        for change in changes.entities {
            let root = writer.schema[change.entity].root
            try change.inserts?.forEachBatch(batch) { batch throws(StorageError) in
                for index in 0..<batch.count { greatest[root] = max(greatest[root] ?? 0, batch.key(index)) }
            }
        }
        for (root, key) in greatest.sorted(by: { $0.key < $1.key }) {
            var next = try writer.reserveKeys(root, count: 1).upperBound
            while next <= key { next = try writer.reserveKeys(root, count: Int(clamping: key - next + 1)).upperBound }
        }
    }

    package static func unavailable(_ cause: StorageError?) -> StorageError {
        StorageError(
            .peerUnavailable,
            "nothing was written: another store that takes part in commits with this one may hold changes for it and cannot be read; add "
                + "that store to the stack, or remove the link with forgetPeers", cause: cause)
    }

    private static func diverged(_ comparison: PeerComparison, cause: StorageError?) -> StorageError {
        let what =
            switch comparison {
            case .behind(let count): "lacks \(count) joint transactions that another store has"
            case .ahead(let count): "has \(count) joint transactions that the other store no longer has"
            case .next: "was changed in a way that conflicts with the joint transaction to apply next"
            case .same, .unrelated: "and another store of its joint commits record different transactions"
            }
        return StorageError(
            .peerDiverged,
            "nothing was written: the store \(what), as after one of them was restored from a backup; forgetPeers reports what differs and "
                + "makes the store writable again", details: cause?.details ?? .init(), cause: cause)
    }
}
