public import Foundation

/// What a store that forgets a peer does not have in common with it.
public struct PeerDifference: Sendable, Hashable {
    /// How the transactions compare that the two committed together.
    public enum Kind: Sendable, Hashable {
        /// Both have the same.
        case none
        /// The store lacks transactions that the peer has.
        case lacks(UInt64)
        /// The store has transactions that the peer lacks.
        case exceeds(UInt64)
        /// The peer cannot be asked, or knows other transactions than the store.
        case unknown
    }

    /// The identity of the peer.
    public let peer: UUID
    /// How the transactions compare.
    public let kind: Kind
    /// The keys of the objects that the last transaction changed in the store, by entity, where the peer still keeps what the store lacks of it.
    public let keys: [String: [Int64]]

    init(_ peer: UUID, _ kind: Kind, keys: [String: [Int64]] = [:]) {
        self.peer = peer
        self.kind = kind
        self.keys = keys
    }
}

extension Peers {
    /// What a store does not have in common with its leaders.
    ///
    /// - Parameters:
    ///   - session: A session of the store.
    ///   - read: Starts to read a leader.
    public static func differences(
        _ session: ReadSession, read: Reading
    ) throws(StorageError) -> [PeerDifference] {
        let store = session.store.storeID, schema = session.schema
        var found: [PeerDifference] = []
        for peer in try Peers(session).leaders() {
            guard let leader = try? read(peer.store) else {
                found.append(PeerDifference(peer.store, .unknown))
                continue
            }
            defer { leader.end() }
            let kind: PeerDifference.Kind =
                switch try PeerComparison(Peers(leader), peer, of: store) {
                case .same: .none
                case .next: .lacks(1)
                case .behind(let count): .lacks(count)
                case .ahead(let count): .exceeds(count)
                case .unrelated: .unknown
                }
            var keys: [String: [Int64]] = [:]
            if case .lacks = kind, let kept = try Peers(leader).redo(for: store), let redo = try? Redo(kept, schema) {
                keys = try redo.keys(schema)
            }
            found.append(PeerDifference(peer.store, kind, keys: keys))
        }
        return found
    }
}

extension Redo {
    /// The keys of the objects that are changed, by entity.
    func keys(_ schema: Schema) throws(StorageError) -> [String: [Int64]] {
        var found: [String: Set<Int64>] = [:]
        let batch = RowBatch(capacity: 512)
        for change in changes.flatMap(\.entities) {
            let name = schema.entities[change.entity].name
            found[name, default: []].formUnion(change.deletes.map(\.key))
            for rows in change.updates.map(\.rows) + [change.inserts].compactMap({ $0 }) {
                try rows.forEachBatch(batch) { batch throws(StorageError) in
                    for index in 0..<batch.count { found[name, default: []].insert(batch.key(index)) }
                }
            }
        }
        return found.mapValues { $0.sorted() }
    }
}
