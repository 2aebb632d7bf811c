package import PolystoreFoundation

/// The stores with which a store has committed together, according to its notes.
///
/// A follower has a single note of all its leaders, which it reads before each write. A leader has a short note for each follower, and
/// another note with the changes of the last transaction until the follower has applied them.
package struct Peers {
    private static let name = "peers"

    let session: ReadSession
    /// Whether a damaged note is treated as missing. Operations that forget the peers do not need the contents of the notes.
    private let skipsDamage: Bool

    /// Creates a view of the peers in the notes of a session's store.
    package init(_ session: ReadSession) { self.init(session, skipsDamage: false) }

    package init(_ session: ReadSession, skipsDamage: Bool) {
        self.session = session
        self.skipsDamage = skipsDamage
    }

    /// Returns the stores that may keep changes for this store.
    package func leaders() throws(StorageError) -> [Peer] { try noted().filter { !$0.isForgotten } }

    /// Returns all noted leaders, including forgotten ones.
    private func noted() throws(StorageError) -> [Peer] {
        guard let data = try session.note(Self.name) else { return [] }
        var found: [Peer] = []
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            if let peer = Peer(line.split(separator: " ")) { found.append(peer) } else { found += try former(line) }
        }
        return found
    }

    /// Returns the leaders in the notes of the first format: their identities in one note, and each number in a note of its own.
    private func former(_ line: Substring) throws(StorageError) -> [Peer] {
        var found: [Peer] = []
        for word in line.split(separator: ",") {
            guard let store = UUID(uuidString: String(word)) else {
                if skipsDamage { continue }
                throw Redo.damaged
            }
            let number = try session.note("applied.\(store.uuidString)").flatMap { UInt64(String(decoding: $0, as: UTF8.self)) }
            found.append(Peer(store: store, pairing: Peer.formerPairing, number: number ?? 0))
        }
        return found
    }

    /// Returns the leader with an identity, or nil if there is none.
    package func leader(_ store: UUID) throws(StorageError) -> Peer? { try leaders().first { $0.store == store } }

    /// Returns the identities of the stores that may keep changes for this store.
    package func known() throws(StorageError) -> [UUID] { try leaders().map(\.store) }

    package func lead(of follower: UUID) throws(StorageError) -> PeerLead? {
        guard let data = try session.note(Self.leadName(follower)) else {
            return try redo(for: follower).flatMap(Redo.formerNumber).map(PeerLead.init(former:))
        }
        if let lead = PeerLead(data) { return lead }
        if skipsDamage { return nil }
        throw Redo.damaged
    }

    /// Returns whether both stores have the same transactions of a pairing that both know.
    package func agrees(with follower: UUID, on peer: Peer) throws(StorageError) -> Bool {
        guard let lead = try lead(of: follower), lead.pairing != Peer.formerPairing else { return false }
        return lead.isSame(as: peer) && lead.state != .forgotten
    }

    /// Returns a leader that has committed together with this store although this store has no note of it, for example because it was
    /// restored from a backup that predates the pairing. Returns nil if no leader is missing.
    ///
    /// - Parameters:
    ///   - leader: The notes of the leader.
    ///   - store: The identity of the leader.
    package func missing(_ leader: Peers, _ store: UUID) throws(StorageError) -> Peer? {
        guard let lead = try leader.lead(of: session.store.storeID), lead.pairing != Peer.formerPairing, lead.state != .forgotten,
            lead.number > 0
        else { return nil }
        let isKnown = try noted().contains { $0.store == store && (!$0.isForgotten || $0.pairing == lead.pairing) }
        return isKnown ? nil : Peer(store: store, pairing: lead.pairing)
    }

    /// Checks that no other store may keep changes for this store.
    ///
    /// - Throws: `peerUnavailable` if other stores may keep changes for this one. Only a stack that contains them can find out.
    package func checkIsAlone() throws(StorageError) {
        if try leaders().isEmpty { return }
        throw StorageError(
            .peerUnavailable,
            "nothing was written: the store takes part in joint commits with other stores; write to it through a stack that contains them, "
                + "or remove the link with forgetPeers")
    }

    /// Refuses to move a store that has committed together with others: they keep notes of its identity, which the other store lacks.
    package func checkIsMovable() throws(StorageError) {
        if try leaders().isEmpty, try followers().isEmpty { return }
        throw StorageError(
            .peerUnavailable,
            "the store is not moved, because it takes part in joint commits with other stores, which know it by its identity; remove the "
                + "links with forgetPeers of each of them first, and commit to one store at a time meanwhile")
    }

    /// Returns why a copy of the store may lack committed changes, or nil if other stores keep none for it.
    ///
    /// - Parameter loss: The name under which the loss is accepted.
    package func refusalOfCopy(accepting loss: String) throws(StorageError) -> StorageError? {
        if try leaders().isEmpty { return nil }
        return StorageError(
            .dataLossRefused,
            "the source takes part in joint commits with other stores, which may keep committed changes for it that the copy would lack; "
                + "remove the links with forgetPeers in a stack that contains them, or accept the loss of \"\(loss)\"")
    }

    /// Returns whether this store, the leader, has to be consulted before the follower is written to.
    package func isAhead(of follower: UUID, _ peer: Peer) throws(StorageError) -> Bool {
        guard let lead = try lead(of: follower) else { return peer.number > 0 }
        return !lead.isSame(as: peer)
    }

    /// Returns the identities of the pairings that this store knows, by the identity of the other store.
    package func pairings() throws(StorageError) -> [UUID: UUID] {
        var found: [UUID: UUID] = [:]
        for peer in try leaders() { found[peer.store] = peer.pairing }
        for follower in try followers() { found[follower] = try lead(of: follower)?.pairing }
        return found
    }

    /// Returns the stores for which this store keeps changes.
    func followers() throws(StorageError) -> [UUID] {
        guard let data = try session.note(Self.followersName) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { UUID(uuidString: String($0)) }
    }

    private static let followersName = "followers"
    private static func leadName(_ follower: UUID) -> String { "lead.\(follower.uuidString)" }
    private static func redoName(_ follower: UUID) -> String { "redo.\(follower.uuidString)" }

    func redo(for follower: UUID) throws(StorageError) -> Data? { try session.note(Self.redoName(follower)) }
}

// MARK: The follower's notes

extension Peers {
    /// Notes that a store may keep changes for this store, starting with a pairing.
    package static func add(_ leader: UUID, pairing: UUID = UUID(), _ writer: WriteSession) throws(StorageError) {
        try set(Peer(store: leader, pairing: pairing), writer)
    }

    /// Notes a leader again.
    package static func add(_ peer: Peer, _ writer: WriteSession) throws(StorageError) { try set(peer, writer) }

    /// Forgets all leaders. Changes that they keep for this store are never applied.
    package static func forgetAll(_ writer: WriteSession) throws(StorageError) {
        let noted = try Peers(writer, skipsDamage: true).noted()
        if try writer.note(name) != nil { try set(noted.map(\.asForgotten), writer) }
    }

    /// Notes that this store has applied the changes of the next transaction with a leader.
    static func setNumber(_ number: UInt64, _ mark: PeerMark?, of peer: Peer, _ writer: WriteSession) throws(StorageError) {
        try set(Peer(store: peer.store, pairing: peer.pairing, number: number, mark: mark), writer)
    }

    /// Forgets one leader, unless the two stores have paired again.
    package static func forget(leader: UUID, _ pairing: UUID, _ writer: WriteSession) throws(StorageError) {
        if let peer = try Peers(writer).leader(leader), peer.pairing == pairing { try set(peer.asForgotten, writer) }
    }

    private static func set(_ peer: Peer, _ writer: WriteSession) throws(StorageError) {
        try set(try Peers(writer).noted().filter { $0.store != peer.store } + [peer], writer)
    }

    private static func set(_ peers: [Peer], _ writer: WriteSession) throws(StorageError) {
        try writer.setNote(name, Data(peers.map(\.text).joined(separator: "\n").utf8))
    }
}

// MARK: The leader's notes

extension Peers {
    /// Notes that a store follows this store, starting with a pairing. Changes that were kept for it before are removed.
    package static func lead(_ follower: UUID, pairing: UUID, _ writer: WriteSession) throws(StorageError) {
        try writer.setNote(redoName(follower), nil)
        try writer.setNote(leadName(follower), PeerLead(pairing: pairing).data)
        let followers = try Peers(writer).followers()
        if followers.contains(follower) { return }
        try writer.setNote(followersName, Data((followers + [follower]).map(\.uuidString).joined(separator: "\n").utf8))
    }

    /// Stores the changes of the next transaction in the leader, and notes in the follower that it has applied them.
    package static func keep(
        _ redo: Redo.Recorder, author: String, for follower: UUID, _ peer: Peer, leader: WriteSession,
        follower writer: WriteSession
    ) throws(StorageError) {
        var lead = PeerLead(pairing: peer.pairing)
        lead.number = peer.number + 1
        lead.state = .kept
        lead.mark = PeerMark()
        lead.formerMark = peer.mark
        try leader.setNote(redoName(follower), redo.bytes(number: lead.number, author: author))
        try leader.setNote(leadName(follower), lead.data)
        try setNumber(lead.number, lead.mark, of: peer, writer)
    }

    /// Removes the changes that are kept for a follower, if the follower has applied them. The number in `peer` is that of the follower.
    ///
    /// - Returns: Whether changes were removed.
    @discardableResult
    package static func drop(for follower: UUID, confirmed peer: Peer, _ writer: WriteSession) throws(StorageError) -> Bool {
        guard var lead = try Peers(writer).lead(of: follower), lead.state == .kept, lead.isSame(as: peer) else { return false }
        lead.state = .confirmed
        try writer.setNote(redoName(follower), nil)
        try writer.setNote(leadName(follower), lead.data)
        return true
    }

    /// Returns whether changes are kept that the follower has already applied.
    package func keepsConfirmed(for follower: UUID, _ peer: Peer) throws(StorageError) -> Bool {
        guard let lead = try lead(of: follower) else { return false }
        return lead.state == .kept && lead.isSame(as: peer)
    }

    /// Makes a change without meaning, so that the transaction commits.
    package static func touch(_ writer: WriteSession) throws(StorageError) {
        try writer.setNote("peers.touched", Data(UUID().uuidString.utf8))
    }

    /// Forgets all followers.
    package static func forgetFollowers(_ writer: WriteSession) throws(StorageError) {
        for follower in try Peers(writer).followers() {
            if let lead = try Peers(writer, skipsDamage: true).lead(of: follower) {
                try forget(follower: follower, lead.pairing, writer)
            } else {
                try writer.setNote(redoName(follower), nil)
                try writer.setNote(leadName(follower), nil)
            }
        }
        try writer.setNote(followersName, nil)
    }

    /// Forgets a follower, unless the two stores have paired again. Changes kept for it are removed; a note remains, from which the
    /// follower learns that it was forgotten.
    package static func forget(follower: UUID, _ pairing: UUID, _ writer: WriteSession) throws(StorageError) {
        guard var lead = try Peers(writer, skipsDamage: true).lead(of: follower) else {
            // There is no note, or it is unreadable.
            try writer.setNote(redoName(follower), nil)
            return try writer.setNote(leadName(follower), nil)
        }
        if lead.pairing != pairing { return }
        lead.state = .forgotten
        try writer.setNote(redoName(follower), nil)
        try writer.setNote(leadName(follower), lead.data)
    }
}
