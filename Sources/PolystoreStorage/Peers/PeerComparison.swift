internal import PolystoreFoundation

/// The relation between the transactions of a follower and those that its leader knows.
enum PeerComparison {
    case same
    /// The leader keeps the transaction that the follower has to apply next.
    case next
    /// The follower lacks transactions.
    case behind(UInt64)
    /// The leader lacks transactions.
    case ahead(UInt64)
    /// The leader knows another pairing, or another transaction with the same number.
    case unrelated

    init(_ leader: Peers, _ peer: Peer, of store: UUID) throws(StorageError) {
        let lead = try leader.lead(of: store)
        guard let lead, lead.pairing == peer.pairing else {
            // When two stores pair, the follower stores its note first.
            if peer.number == 0 { self = .same } else { self = lead == nil ? .ahead(peer.number) : .unrelated }
            return
        }
        if lead.isSame(as: peer) || lead.state == .forgotten && lead.number < peer.number {
            self = .same
        } else if lead.number == peer.number {
            self = .unrelated
        } else if lead.number < peer.number {
            self = .ahead(peer.number - lead.number)
        } else if lead.number - peer.number > 1 || lead.state != .kept {
            self = .behind(lead.number - peer.number)
        } else {
            self = lead.isNext(after: peer) ? .next : .unrelated
        }
    }
}
