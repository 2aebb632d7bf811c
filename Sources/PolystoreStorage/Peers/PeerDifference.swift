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
    /// The keys of the objects that the last transaction changed in the store that lacks it, by entity, where it is still kept.
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
            let keys = if case .lacks = kind { try Peers(leader).keptKeys(for: store, schema) } else { [String: [Int64]]() }
            found.append(PeerDifference(peer.store, kind, keys: keys))
        }
        return found
    }

    /// The stores that may lack what this one keeps for them.
    ///
    /// - Parameter has: The number of the last transaction of a pairing that a store has; nil where it cannot be asked.
    package func owed(_ has: (UUID, Peer) throws(StorageError) -> UInt64?) throws(StorageError) -> [PeerDifference] {
        var found: [PeerDifference] = []
        for follower in try followers() {
            guard let lead = try lead(of: follower), lead.state == .kept else { continue }
            let peer = Peer(store: session.store.storeID, pairing: lead.pairing, number: lead.number)
            if let number = try has(follower, peer), number >= lead.number { continue }
            found.append(PeerDifference(follower, .exceeds(1), keys: try keptKeys(for: follower, session.schema)))
        }
        return found
    }

    private func keptKeys(for follower: UUID, _ schema: Schema) throws(StorageError) -> [String: [Int64]] {
        guard let kept = try redo(for: follower), let redo = try? Redo(kept, schema) else { return [:] }
        return try redo.keys(schema)
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
