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

    /// Whether a store can be second in a commit, so that another has to keep its changes.
    func canFollow(_ position: Int) -> Bool {
        guard commitRank(position) == 1 else { return false }
        return entries.contains { other in
            other.position != position && (commitRank(other.position), other.position) < (1, position)
        }
    }

    /// Starts a write transaction. One of a store that other stores may keep changes for takes those over first.
    func beginWrite(_ position: Int, _ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let entry = try entry(position)
        var options = options
        options.isFollowed = commits.isObserved
        while true {
            let writer = try entry.store.beginWrite(options)
            if commitRank(position) != 1 { return writer }
            do throws(StorageError) {
                let author = try Peers.settle(entry.state.storeID, model.schema, writer) { peer throws(StorageError) in
                    guard let other = self.position(of: peer) else { return nil }
                    return try store(other).beginRead(ReadOptions(limit: options.limit))
                }
                guard let author else { return writer }
                _ = try writer.commit(CommitRecord(author: author))
            } catch {
                writer.end()
                throw error
            }
        }
    }

    /// Lets the stores that are behind a peer catch up, as far as the stack has both; called when a store comes.
    func catchUp() throws(StorageError) {
        for (position, entry) in entries where commitRank(position) == 1 {
            if try isBehind(position, entry) { try beginWrite(position, WriteOptions()).end() }
        }
    }

    private func isBehind(_ position: Int, _ entry: Entry) throws(StorageError) -> Bool {
        let reader = try entry.store.beginRead()
        defer { reader.end() }
        let peers = Peers(reader)
        for peer in try peers.known() {
            guard let other = self.position(of: peer) else { return false }
            let session = try store(other).beginRead()
            defer { session.end() }
            guard let kept = try Peers(session).redo(for: entry.state.storeID) else { continue }
            if try Redo.number(kept) > peers.number(of: peer) { return true }
        }
        return false
    }

    /// Notes in each store that another may keep changes for it.
    func pair(_ pairs: [(store: Int, peer: UUID)]) throws(StorageError) {
        for (store, peer) in pairs {
            let writer = try beginWrite(store, WriteOptions())
            defer { writer.end() }
            try Peers.add(peer, writer)
            _ = try writer.commit(CommitRecord())
        }
    }
}

extension DataStack {
    /// Lets a store forget the stores that it has committed together with.
    ///
    /// A store that was part of a transaction over several stores can be written to only where the others can be asked whether they keep
    /// changes for it. Call this when one of them is gone for good; the changes that it may keep are lost then.
    public func forgetPeers(of storage: any StorageInterface) throws(StorageError) {
        try reporting { () throws(StorageError) in
            try core.checkReentrancy()
            let writer = try storage.beginWrite(WriteOptions())
            defer { writer.end() }
            try Peers.forgetAll(writer)
            _ = try writer.commit(CommitRecord())
        }
    }
}
