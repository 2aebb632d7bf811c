package import PolystoreFoundation

/// A leader as its follower notes it. When two stores commit together, the leader commits first and the follower second.
package struct Peer: Sendable, Hashable {
    /// The identity of the leader.
    package let store: UUID
    /// The identity of the pairing. Two stores that forget each other and pair again get a new identity, so that remains of the first
    /// pairing are not mistaken for parts of the second.
    package let pairing: UUID
    /// The number of the last transaction of the pairing that the follower has applied.
    package let number: UInt64
    /// The mark of that transaction, which distinguishes it from another transaction with the same number, for example in two diverging
    /// backups. Nil if an earlier version of the format committed it.
    let mark: PeerMark?
    /// Whether the follower has forgotten the leader. The note distinguishes this case from a backup that predates the pairing.
    let isForgotten: Bool

    init(store: UUID, pairing: UUID, number: UInt64 = 0, mark: PeerMark? = nil, isForgotten: Bool = false) {
        self.store = store
        self.pairing = pairing
        self.number = number
        self.mark = mark
        self.isForgotten = isForgotten
    }

    init?(_ words: [Substring]) {
        let isForgotten = words.last.map { $0 == Self.forgotten } ?? false, words = isForgotten ? words.dropLast() : words[...]
        guard words.count == 3 || words.count == 4, let store = UUID(uuidString: String(words[0])),
            let pairing = UUID(uuidString: String(words[1])), let number = UInt64(words[2])
        else { return nil }
        let mark = words.count == 4 ? PeerMark(words[3]) : nil
        if words.count == 4, mark == nil { return nil }
        self.init(store: store, pairing: pairing, number: number, mark: mark, isForgotten: isForgotten)
    }

    private static let forgotten = "forgotten"
    /// The pairing of two stores that committed together in the first format, in which pairings had no identity.
    static let formerPairing = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    var text: String {
        ([store.uuidString, pairing.uuidString, String(number)] + [mark?.text, isForgotten ? Self.forgotten : nil].compactMap { $0 })
            .joined(separator: " ")
    }

    var asForgotten: Peer { Peer(store: store, pairing: pairing, number: number, mark: mark, isForgotten: true) }
}
