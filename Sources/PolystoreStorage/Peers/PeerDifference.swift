public import PolystoreFoundation

/// The difference between the committed transactions of a store and those of a peer that it forgets.
public struct PeerDifference: Sendable, Hashable {
    /// The relation between the transactions that the store and the peer committed together.
    public enum Kind: Sendable, Hashable {
        /// Both have the same transactions.
        case none
        /// The store lacks transactions that the peer has.
        case lacks(UInt64)
        /// The store has transactions that the peer lacks.
        case exceeds(UInt64)
        /// The peer cannot be reached, or has other transactions than the store.
        case unknown
    }

    /// The identity of the peer.
    public let peer: UUID
    /// The relation between the transactions.
    public let kind: Kind
    /// The primary keys of the objects that the last transaction changed in the store that lacks it, by entity, if that transaction is
    /// still kept.
    public let keys: [String: [Int64]]

    /// Returns the difference to a peer that cannot be reached.
    package static func unknown(_ peer: UUID) -> PeerDifference { PeerDifference(peer, .unknown) }

    init(_ peer: UUID, _ kind: Kind, keys: [String: [Int64]] = [:]) {
        self.peer = peer
        self.kind = kind
        self.keys = keys
    }
}

extension Peers {
    /// Returns the differences between a store and its leaders. Damaged notes are skipped, or make a difference unknown.
    ///
    /// - Parameters:
    ///   - session: A session of the store.
    ///   - read: Begins a read session of a leader.
    package static func differences(
        _ session: ReadSession, read: Reading
    ) throws(StorageError) -> [PeerDifference] {
        let store = session.store.storeID, schema = session.schema
        var found: [PeerDifference] = []
        for peer in try Peers(session, skipsDamage: true).leaders() {
            guard let leader = try? read(peer.store) else {
                found.append(PeerDifference(peer.store, .unknown))
                continue
            }
            defer { leader.end() }
            let kind = try kind(of: peer, Peers(leader), store)
            let keys = if case .lacks = kind { try Peers(leader).keptKeys(for: store, schema) } else { [String: [Int64]]() }
            found.append(PeerDifference(peer.store, kind, keys: keys))
        }
        return found
    }

    private static func kind(of peer: Peer, _ leader: Peers, _ store: UUID) throws(StorageError) -> PeerDifference.Kind {
        switch try comparison(of: peer, leader, store) {
        case .same: .none
        case .next: .lacks(1)
        case .behind(let count): .lacks(count)
        case .ahead(let count): .exceeds(count)
        case .unrelated: .unknown
        }
    }

    private static func comparison(of peer: Peer, _ leader: Peers, _ store: UUID) throws(StorageError) -> PeerComparison {
        do throws(StorageError) { return try PeerComparison(leader, peer, of: store) } catch  where error.code == .corrupted {
            return .unrelated
        }
    }

    /// Returns the difference between this store, as a leader, and one of its followers. Returns nil if both have the same transactions, or
    /// if the follower does not note this store as a leader.
    ///
    /// - Parameter follower: The notes of the follower.
    package func difference(from follower: Peers) throws(StorageError) -> PeerDifference? {
        let id = follower.session.store.storeID
        guard let peer = try follower.leader(session.store.storeID) else { return nil }
        switch try Self.comparison(of: peer, self, id) {
        case .same: return nil
        case .next: return PeerDifference(id, .exceeds(1), keys: try keptKeys(for: id, session.schema))
        case .behind(let count): return PeerDifference(id, .exceeds(count))
        case .ahead(let count): return PeerDifference(id, .lacks(count))
        case .unrelated: return PeerDifference(id, .unknown)
        }
    }

    /// Returns the differences to followers that cannot be reached and that may lack changes which this store keeps for them.
    ///
    /// - Parameter isAtHand: Returns whether a store can be reached.
    package func owed(besides isAtHand: (UUID) -> Bool) throws(StorageError) -> [PeerDifference] {
        var found: [PeerDifference] = []
        for follower in try followers() where !isAtHand(follower) {
            guard let lead = try lead(of: follower), lead.state == .kept else { continue }
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
    /// Returns the primary keys of the changed objects, by entity.
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
