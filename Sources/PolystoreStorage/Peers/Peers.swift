public import Foundation

/// A store that commits before another when both commit together: the leader, as the other one, the follower, notes it.
public struct Peer: Sendable, Hashable {
    /// The identity of the leader.
    public let store: UUID
    /// The identity of the pairing. Two stores that forget each other and pair again have another one, so that nothing that is left of the
    /// first is taken for a part of the second.
    public let pairing: UUID
    /// The number of the last transaction of the pairing that the follower has.
    public let number: UInt64

    init(store: UUID, pairing: UUID, number: UInt64 = 0) {
        self.store = store
        self.pairing = pairing
        self.number = number
    }

    init?(_ words: [Substring]) {
        guard words.count == 3, let store = UUID(uuidString: String(words[0])), let pairing = UUID(uuidString: String(words[1])),
            let number = UInt64(words[2])
        else { return nil }
        self.init(store: store, pairing: pairing, number: number)
    }

    var text: String { "\(store.uuidString) \(pairing.uuidString) \(number)" }
}

/// What a leader notes of a pairing, apart from the changes themselves, so that they need not be read to compare a number.
package struct PeerLead: Sendable, Hashable {
    enum State: String {
        /// The changes of the transaction with the number are kept.
        case kept
        /// The follower has them; they are not kept any more.
        case confirmed
        /// The leader has forgotten the follower.
        case forgotten
    }

    let pairing: UUID
    /// The number of the last transaction of the pairing that the leader has.
    var number: UInt64 = 0
    var state = State.confirmed

    init(pairing: UUID) { self.pairing = pairing }

    init?(_ data: Data) {
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard words.count == 3, let pairing = UUID(uuidString: String(words[0])), let number = UInt64(words[1]),
            let state = State(rawValue: String(words[2]))
        else { return nil }
        self.pairing = pairing
        self.number = number
        self.state = state
    }

    var data: Data { Data("\(pairing.uuidString) \(number) \(state.rawValue)".utf8) }
}

/// The stores with which a store has committed together, as it notes them.
///
/// A follower has one note of all its leaders, which it reads before each write. A leader has a short note for each follower, and another
/// one with the changes of the last transaction until the follower has them.
public struct Peers {
    private static let name = "peers"

    private let session: ReadSession

    /// The peers that a session's store knows.
    public init(_ session: ReadSession) { self.session = session }

    /// The stores that may keep changes for this one.
    public func leaders() throws(StorageError) -> [Peer] {
        guard let data = try session.note(Self.name) else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Peer($0.split(separator: " ")) }
    }

    /// The leader with an identity; nil for none.
    public func leader(_ store: UUID) throws(StorageError) -> Peer? { try leaders().first { $0.store == store } }

    /// The identities of the stores that may keep changes for this one.
    public func known() throws(StorageError) -> [UUID] { try leaders().map(\.store) }

    package func lead(of follower: UUID) throws(StorageError) -> PeerLead? {
        guard let data = try session.note(Self.leadName(follower)) else { return nil }
        guard let lead = PeerLead(data) else { throw Redo.damaged }
        return lead
    }

    /// Whether both stores have the same transactions of a pairing that both know.
    public func agrees(with follower: UUID, on peer: Peer) throws(StorageError) -> Bool {
        guard let lead = try lead(of: follower) else { return false }
        return lead.pairing == peer.pairing && lead.number == peer.number && lead.state != .forgotten
    }

    /// Whether this store, the leader, has to be asked before the follower is written to.
    public func isAhead(of follower: UUID, _ peer: Peer) throws(StorageError) -> Bool {
        guard let lead = try lead(of: follower) else { return peer.number > 0 }
        return lead.number != peer.number || lead.pairing != peer.pairing
    }

    /// The stores that this one keeps changes for.
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
    /// Notes that a store may keep changes for this one, from a pairing on.
    public static func add(_ leader: UUID, pairing: UUID = UUID(), _ writer: WriteSession) throws(StorageError) {
        try set(Peer(store: leader, pairing: pairing), writer)
    }

    /// Forgets all leaders: changes that they keep for this store are never taken over.
    public static func forgetAll(_ writer: WriteSession) throws(StorageError) { try set([], writer) }

    /// Notes that this store has the changes of the next transaction with a leader.
    static func setNumber(_ number: UInt64, of peer: Peer, _ writer: WriteSession) throws(StorageError) {
        try set(Peer(store: peer.store, pairing: peer.pairing, number: number), writer)
    }

    /// Forgets one leader.
    public static func forget(leader: UUID, _ writer: WriteSession) throws(StorageError) {
        let leaders = try Peers(writer).leaders(), left = leaders.filter { $0.store != leader }
        if left.count < leaders.count { try set(left, writer) }
    }

    private static func set(_ peer: Peer, _ writer: WriteSession) throws(StorageError) {
        try set(try Peers(writer).leaders().filter { $0.store != peer.store } + [peer], writer)
    }

    private static func set(_ peers: [Peer], _ writer: WriteSession) throws(StorageError) {
        try writer.setNote(name, peers.isEmpty ? nil : Data(peers.map(\.text).joined(separator: "\n").utf8))
    }
}

// MARK: The leader's notes

extension Peers {
    /// Notes that a store follows this one, from a pairing on; what was kept for it before is dropped.
    public static func lead(_ follower: UUID, pairing: UUID, _ writer: WriteSession) throws(StorageError) {
        try writer.setNote(redoName(follower), nil)
        try writer.setNote(leadName(follower), PeerLead(pairing: pairing).data)
        let followers = try Peers(writer).followers()
        if followers.contains(follower) { return }
        try writer.setNote(followersName, Data((followers + [follower]).map(\.uuidString).joined(separator: "\n").utf8))
    }

    /// Keeps the changes of the next transaction in the leader, and notes in the follower that it has them.
    public static func keep(
        _ redo: Redo.Recorder, author: String, for follower: UUID, _ peer: Peer, leader: WriteSession,
        follower writer: WriteSession
    ) throws(StorageError) {
        var lead = PeerLead(pairing: peer.pairing)
        lead.number = peer.number + 1
        lead.state = .kept
        try leader.setNote(redoName(follower), redo.bytes(number: lead.number, author: author))
        try leader.setNote(leadName(follower), lead.data)
        try setNumber(lead.number, of: peer, writer)
    }

    /// Drops the changes that are kept for a follower, if it has them: the number is that of the follower.
    ///
    /// - Returns: Whether there was something to drop.
    @discardableResult
    public static func drop(for follower: UUID, confirmed peer: Peer, _ writer: WriteSession) throws(StorageError) -> Bool {
        guard var lead = try Peers(writer).lead(of: follower), lead.state == .kept, lead.pairing == peer.pairing,
            lead.number <= peer.number
        else { return false }
        lead.state = .confirmed
        try writer.setNote(redoName(follower), nil)
        try writer.setNote(leadName(follower), lead.data)
        return true
    }

    /// Whether changes are kept that the follower has.
    public func keepsConfirmed(for follower: UUID, _ peer: Peer) throws(StorageError) -> Bool {
        guard let lead = try lead(of: follower) else { return false }
        return lead.state == .kept && lead.pairing == peer.pairing && lead.number == peer.number
    }

    /// Forgets all followers.
    public static func forgetFollowers(_ writer: WriteSession) throws(StorageError) {
        for follower in try Peers(writer).followers() { try forget(follower: follower, writer) }
        try writer.setNote(followersName, nil)
    }

    /// Forgets a follower: what is kept for it is dropped, and a note stays by which it learns so.
    public static func forget(follower: UUID, _ writer: WriteSession) throws(StorageError) {
        guard var lead = try Peers(writer).lead(of: follower) else { return }
        lead.state = .forgotten
        try writer.setNote(redoName(follower), nil)
        try writer.setNote(leadName(follower), lead.data)
    }
}
