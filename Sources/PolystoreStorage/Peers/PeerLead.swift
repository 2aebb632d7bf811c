package import PolystoreFoundation

/// A leader's note about a pairing. It is separate from the changes themselves, so that comparing a number does not require reading them.
package struct PeerLead: Sendable, Hashable {
    enum State: String {
        /// The changes of the transaction with this number are kept.
        case kept
        /// The follower has applied the changes, and they are no longer kept.
        case confirmed
        /// The leader has forgotten the follower.
        case forgotten
    }

    package let pairing: UUID
    /// The number of the last transaction of the pairing that the leader has committed.
    var number: UInt64 = 0
    var state = State.confirmed
    /// The marks of that transaction and of the one before it. Nil if an earlier version of the format committed them.
    var mark: PeerMark?
    var formerMark: PeerMark?

    init(pairing: UUID) { self.pairing = pairing }

    /// Creates a note from changes kept in the first format, which has no other note.
    init(former number: UInt64) {
        pairing = Peer.formerPairing
        self.number = number
        state = .kept
    }

    init?(_ data: Data) {
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        guard (3...5).contains(words.count), let pairing = UUID(uuidString: String(words[0])), let number = UInt64(words[1]),
            let state = State(rawValue: String(words[2]))
        else { return nil }
        let marks = words.dropFirst(3).map { PeerMark($0) }
        if marks.contains(nil) { return nil }
        self.pairing = pairing
        self.number = number
        self.state = state
        mark = marks.first ?? nil
        formerMark = marks.count > 1 ? marks[1] : nil
    }

    var data: Data {
        let marks = [mark, mark == nil ? nil : formerMark].compactMap { $0?.text }
        return Data(([pairing.uuidString, String(number), state.rawValue] + marks).joined(separator: " ").utf8)
    }

    /// Returns whether the leader's last transaction is also the last one that the follower has.
    func isSame(as peer: Peer) -> Bool { pairing == peer.pairing && number == peer.number && PeerMark.agree(mark, peer.mark) }

    /// Returns whether the leader's last transaction immediately follows the last one that the follower has.
    func isNext(after peer: Peer) -> Bool {
        pairing == peer.pairing && number == peer.number + 1 && PeerMark.agree(formerMark, peer.mark)
    }
}
